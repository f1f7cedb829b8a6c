"""Clamping, straight through: gradients that pass, that stop, and what happens at the bound."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ClampSTE

    for gated in (False, True):
        x = torch.tensor([-3.0, -1.0, 0.2, 1.5], requires_grad=True)
        y = ClampSTE.apply(x, -1.0, 1.0, gated)
        y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:use]


def stuck():
    # --8<-- [start:stuck]
    import torch

    w = torch.tensor(1.5)
    w.requires_grad_()
    sgd = torch.optim.SGD([w], lr=0.25)
    for _ in range(20):
        y = torch.clamp(w, min=-1, max=1)
        loss = (y - 0.5).square()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    print(f"{w.item():.3f}")
    # --8<-- [end:stuck]


def back():
    # --8<-- [start:back]
    import torch
    from customgrad.functions import clamp_ste

    w = torch.tensor(1.5)
    w.requires_grad_()
    sgd = torch.optim.SGD([w], lr=0.25)
    for _ in range(20):
        y = clamp_ste(w, min=-1, max=1)
        loss = (y - 0.5).square()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    print(f"{w.item():.3f}")
    # --8<-- [end:back]


def drift():
    # --8<-- [start:drift]
    import torch
    from customgrad.functions import clamp_ste

    for gated in (False, True):
        w = torch.tensor(0.5, requires_grad=True)
        sgd = torch.optim.SGD([w], lr=0.25)
        for _ in range(20):
            y = clamp_ste(w, min=-1.0, max=1.0, gated=gated)
            sgd.zero_grad()
            (y - 2).square().backward()
            sgd.step()
        print(f"gated={gated}: {w.item()}")
    # --8<-- [end:drift]


def bounds():
    # --8<-- [start:bounds]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import clamp_ste

    inf = torch.inf
    calls = {
        "passing ": lambda x: clamp_ste(x, min=-1, max=1),
        "gated   ": lambda x: clamp_ste(x, min=-1, max=1, gated=True),
        "clamp   ": lambda x: x.clamp(-1, 1),
        "hardtanh": F.hardtanh,
    }
    for name, call in calls.items():
        x = torch.tensor([-1.0, 1.0, 1.01, inf], requires_grad=True)
        call(x).backward(torch.tensor([1.0, 1.0, inf, inf]))
        print(name, x.grad.tolist())
    # --8<-- [end:bounds]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import clamp_ste

    def kept(call, n=1000):
        """Bytes per element that forward keeps for backward."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(n, requires_grad=True))
        return sum(sizes.values()) / n

    for gated in (False, True):
        size = kept(lambda x, g=gated: clamp_ste(x, min=0, max=1, gated=g))
        print(f"gated={gated}: {size} bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import clamp_ste

    for gated in (False, True):
        x = torch.tensor([0.5, 3.0], requires_grad=True)
        y = clamp_ste(x, min=-1.0, max=1.0, gated=gated) ** 3
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(slope.sum(), x)
        print(slope.tolist(), second.tolist())
    # --8<-- [end:twice]


def main():
    use()
    stuck()
    back()
    drift()
    bounds()
    kept()
    twice()


if __name__ == "__main__":
    main()
