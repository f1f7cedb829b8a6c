# === with-block, out of place, p.data
import torch


def momentum_step(params, buffers, lr, momentum, dampening=0, nesterov=False):
    for i in range(len(params)):
        p, buf = params[i], buffers[i]
        if p.grad is not None:
            g = p.grad.detach()
            buf = g.clone() if buf is None else momentum * buf + (1 - dampening) * g
            buffers[i] = buf
            d = g + momentum * buf if nesterov else buf
            p.data = p.data - lr * d


# === add_ with alpha
import torch


def momentum_step(params, buffers, lr, momentum, dampening=0, nesterov=False):
    with torch.no_grad():
        for i, (p, buf) in enumerate(zip(params, buffers)):
            grad = p.grad
            if grad is None:
                continue
            if buf is None:
                buf = torch.clone(grad)
                buffers[i] = buf
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - dampening)
            update = grad.add(buf, alpha=momentum) if nesterov else buf
            p.add_(update, alpha=-lr)


# === first all buffers, then all parameters
import torch


def update_buffer(buffer, grad, momentum, dampening):
    if buffer is None:
        return grad * 1
    return torch.add(buffer * momentum, grad, alpha=1 - dampening)


@torch.no_grad()
def momentum_step(params, buffers, lr, momentum, dampening=0, nesterov=False):
    live = [k for k, p in enumerate(params) if p.grad is not None]
    for k in live:
        buffers[k] = update_buffer(buffers[k], params[k].grad, momentum, dampening)
    for k in live:
        look = params[k].grad + momentum * buffers[k] if nesterov else buffers[k]
        params[k] -= lr * look
