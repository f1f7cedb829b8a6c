"""The SGD exercise, solved."""

# --8<-- [start:solution]
import torch


class SGD(torch.optim.Optimizer):
    def __init__(
        self, params, lr, momentum=0, dampening=0, nesterov=False
    ):
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "nesterov": nesterov,
        }
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(group["lr"] * self.direction(p, group))
        return loss

    def direction(self, p, group):
        grad, momentum = p.grad, group["momentum"]
        if momentum == 0:
            return grad
        state = self.state[p]
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = grad.clone()
        else:
            buffer.mul_(momentum)
            buffer.add_(grad, alpha=1 - group["dampening"])
        if group["nesterov"]:
            return grad + momentum * buffer
        return buffer


# --8<-- [end:solution]
