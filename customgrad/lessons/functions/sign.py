"""The sign, straight through: in a layer with binary weights, at its bounds, and at 0."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import SignSTE

    x = torch.tensor([-3.0, -0.5, 0.2, 1.5], requires_grad=True)
    y = SignSTE.apply(x)
    y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def plain():
    # --8<-- [start:plain]
    import torch

    w = torch.tensor([0.3, -0.2])
    w.requires_grad_()
    x = torch.tensor([1.0, 2.0])
    y = (x * torch.sign(w)).sum()
    (y - 3).square().backward()
    print(y.item(), w.grad.tolist())
    # --8<-- [end:plain]


def through():
    # --8<-- [start:through]
    import torch
    from customgrad.functions import sign_ste

    w = torch.tensor([0.3, -0.2])
    w.requires_grad_()
    x = torch.tensor([1.0, 2.0])
    y = (x * sign_ste(w)).sum()
    (y - 3).square().backward()
    print(y.item(), w.grad.tolist())
    # --8<-- [end:through]


def bounds():
    # --8<-- [start:bounds]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import sign_ste

    calls = {
        "sign_ste": sign_ste,
        "clamp   ": lambda x: x.clamp(-1, 1),
        "hardtanh": F.hardtanh,
    }
    for name, call in calls.items():
        x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
        call(x).sum().backward()
        print(name, x.grad.tolist())
    # --8<-- [end:bounds]


def special():
    # --8<-- [start:special]
    import torch
    from customgrad.functions import sign_ste

    inf, nan = torch.inf, torch.nan
    x = torch.tensor([-inf, 0.0, inf, nan], requires_grad=True)
    y = sign_ste(x)
    y.sum().backward()
    print(y.tolist(), x.grad.tolist())
    # --8<-- [end:special]


def binary():
    # --8<-- [start:binary]
    import torch
    from customgrad.functions import sign_ste

    x = torch.tensor([-0.5, 0.0, 0.5], requires_grad=True)
    y = sign_ste(x)
    y = y + (y == 0)
    y.sum().backward()
    print(y.tolist(), x.grad.tolist())
    # --8<-- [end:binary]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import sign_ste

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

    print("sign_ste", kept(sign_ste), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import sign_ste

    for start in (0.3, 1.3):
        x = torch.tensor(start, requires_grad=True)
        y = sign_ste(x) ** 3
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
        print(slope.item(), second.item())
    # --8<-- [end:twice]


def main():
    use()
    plain()
    through()
    bounds()
    special()
    binary()
    kept()
    twice()


if __name__ == "__main__":
    main()
