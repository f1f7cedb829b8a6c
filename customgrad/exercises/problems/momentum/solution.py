"""The momentum exercise, solved."""

# --8<-- [start:solution]
import torch


@torch.no_grad()
def momentum_step(
    params, buffers, lr, momentum, dampening=0, nesterov=False
):
    for k, p in enumerate(params):
        if p.grad is None:
            continue
        if buffers[k] is None:
            buffers[k] = p.grad.clone()
        else:
            buffers[k].mul_(momentum)
            buffers[k].add_(p.grad, alpha=1 - dampening)
        step = buffers[k]
        if nesterov:
            step = p.grad + momentum * buffers[k]
        p.sub_(lr * step)


# --8<-- [end:solution]
