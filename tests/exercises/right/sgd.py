# === as torch writes it: state and defaults, p.data, add_ with alpha
import torch
from torch.optim import Optimizer


class SGD(Optimizer):
    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, nesterov=False):
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = dict(lr=lr, momentum=momentum, dampening=dampening, nesterov=nesterov)
        super(SGD, self).__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            momentum = group["momentum"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                d_p = p.grad.data
                if momentum != 0:
                    param_state = self.state[p]
                    if "momentum_buffer" not in param_state:
                        buf = param_state["momentum_buffer"] = torch.clone(d_p).detach()
                    else:
                        buf = param_state["momentum_buffer"]
                        buf.mul_(momentum).add_(d_p, alpha=1 - group["dampening"])
                    d_p = d_p.add(buf, alpha=momentum) if group["nesterov"] else buf
                p.data.add_(d_p, alpha=-group["lr"])
        return loss


# === foreach operations over each group
import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0, dampening=0, nesterov=False, weight_decay=0):
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "nesterov": nesterov,
                "weight_decay": weight_decay,
            },
        )

    def step(self, closure=None):
        loss = closure() if closure else None
        with torch.no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group):
        params = [p for p in group["params"] if p.grad is not None]
        if not params:
            return
        grads = [p.grad for p in params]
        if group["weight_decay"]:
            grads = torch._foreach_add(grads, params, alpha=group["weight_decay"])
        if group["momentum"]:
            fresh = [p for p in params if "buf" not in self.state[p]]
            old = [(p, g) for p, g in zip(params, grads) if "buf" in self.state[p]]
            if old:
                bufs = [self.state[p]["buf"] for p, _ in old]
                torch._foreach_mul_(bufs, group["momentum"])
                torch._foreach_add_(bufs, [g for _, g in old], alpha=1 - group["dampening"])
            for p, g in zip(params, grads):
                if any(p is q for q in fresh):
                    self.state[p]["buf"] = g.detach().clone()
            bufs = [self.state[p]["buf"] for p in params]
            if group["nesterov"]:
                grads = torch._foreach_add(grads, bufs, alpha=group["momentum"])
            else:
                grads = bufs
        torch._foreach_add_(params, grads, alpha=-group["lr"])


# === out of place: new buffers, copy_ into the parameter
import torch
from torch import optim


class SGD(optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, dampening=0.0, nesterov=False):
        super().__init__(
            params, dict(lr=lr, momentum=momentum, dampening=dampening, nesterov=nesterov)
        )

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.set_grad_enabled(True):
                loss = closure()

        for group in self.param_groups:
            lr, mu = group["lr"], group["momentum"]
            tau, nag = group["dampening"], group["nesterov"]
            for param in group["params"]:
                g = param.grad
                if g is not None:
                    if mu > 0:
                        v = self.state[param].get("v")
                        v = g.clone() if v is None else mu * v + (1 - tau) * g
                        self.state[param]["v"] = v
                        g = g + mu * v if nag else v
                    param.copy_(param - lr * g)
        return loss


if __name__ == "__main__":
    w = torch.zeros(3, requires_grad=True)
    mine, theirs = SGD([w], lr=0.1), torch.optim.SGD([w], lr=0.1)
    print(mine, theirs)


# === p.data is replaced, and steps are counted in the state
import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0, dampening=0, nesterov=False):
        defaults = locals()
        for name in ("self", "params", "__class__"):
            defaults.pop(name, None)
        super().__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in filter(lambda p: p.grad is not None, group["params"]):
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["velocity"] = torch.zeros_like(p.data)
                state["step"] += 1
                grad = p.grad.detach()
                damp = 0 if state["step"] == 1 else group["dampening"]
                direction = grad
                if group["momentum"]:
                    state["velocity"] = group["momentum"] * state["velocity"] + (1 - damp) * grad
                    direction = state["velocity"]
                    if group["nesterov"]:
                        direction = grad + group["momentum"] * direction
                p.data = p.data - group["lr"] * direction
        return loss


# === a list of buffers in each group, saved with state_dict by hand
import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0, dampening=0, nesterov=False):
        super().__init__(
            params, dict(lr=lr, momentum=momentum, dampening=dampening, nesterov=nesterov)
        )
        self.buffers = {}

    def state_dict(self):
        saved = super().state_dict()
        order = [p for group in self.param_groups for p in group["params"]]
        saved["buffers"] = {k: self.buffers[p] for k, p in enumerate(order) if p in self.buffers}
        return saved

    def load_state_dict(self, state_dict):
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "buffers"})
        order = [p for group in self.param_groups for p in group["params"]]
        self.buffers = {order[k]: v.clone() for k, v in state_dict["buffers"].items()}

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
                d = p.grad
                if group["momentum"]:
                    if p in self.buffers:
                        self.buffers[p].mul_(group["momentum"]).add_(d * (1 - group["dampening"]))
                    else:
                        self.buffers[p] = d.clone()
                    d = self.buffers[p]
                    if group["nesterov"]:
                        d = p.grad + group["momentum"] * d
                p -= group["lr"] * d
        return loss
