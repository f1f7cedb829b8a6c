"""Softplus: used, the naive form beside it, torch's threshold, and what it keeps."""

# --8<-- [start:base]
import torch
from customgrad.functions import Softplus

# --8<-- [end:base]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Softplus, log1pexp

    x = torch.tensor([-2.0, 0.0, 30.0], requires_grad=True)
    y = Softplus.apply(x, 1.0, 20.0)
    y.sum().backward()
    print(y)
    print(x.grad)
    print(log1pexp(x))
    # --8<-- [end:use]


def naive():
    # --8<-- [start:naive]
    import torch

    x = torch.tensor([-20.0, 0.0, 100.0])
    x.requires_grad_()
    y = torch.log(1 + torch.exp(x))
    y.sum().backward()
    print(y.detach())
    print(x.grad)
    # --8<-- [end:naive]


def right():
    # --8<-- [start:right]
    import torch
    from customgrad.functions import softplus

    x = torch.tensor([-20.0, 0.0, 100.0])
    x.requires_grad_()
    y = softplus(x)
    y.sum().backward()
    print(y.detach())
    print(x.grad)
    # --8<-- [end:right]


def units():
    # --8<-- [start:units]
    import torch
    from customgrad.functions import softplus

    x = torch.linspace(-120, 120, 24001, requires_grad=True)
    y = softplus(x)
    y.sum().backward()

    z = x.detach().double()
    e = torch.exp(-z.abs())
    value = z.clamp(min=0) + torch.log1p(e)
    slope = torch.where(z > 0, 1, e) / (1 + e)

    def within(found, exact, units):
        """Whether each is so few units of its last bit away."""
        near = exact.float()
        unit = near.nextafter(near + 1).double() - near.double()
        return ((found - exact).abs() <= units * unit).all().item()

    print("value", within(y, value, 3))
    print("slope", within(x.grad, slope, 3))
    # --8<-- [end:units]


def tail():
    # --8<-- [start:tail]
    import torch
    from customgrad.functions import log1pexp, softplus

    for call in (softplus, log1pexp):
        x = torch.tensor(21.0, dtype=torch.float64)
        x.requires_grad_()
        y = call(x)
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(g, x)
        print(f"{y - 21:.2e} {1 - g:.2e} {second:.2e}")
    # --8<-- [end:tail]


def overflow():
    # --8<-- [start:overflow]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import softplus

    for call in (F.softplus, softplus):
        x = torch.tensor([60.0, 100.0], requires_grad=True)
        y = call(x, threshold=1000)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:overflow]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import softplus

    inf, nan = torch.inf, torch.nan
    for call in (softplus, F.softplus):
        x = torch.tensor([-inf, -200.0, 200.0, inf, nan])
        x.requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import softplus

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

    def composed(x):
        stable = torch.log1p(torch.exp(-x.abs()))
        return x.clamp(min=0) + stable

    print("softplus ", kept(softplus), "bytes")
    print("composed ", kept(composed), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import softplus

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    (slope,) = grad(softplus(x).sum(), x, create_graph=True)
    (second,) = grad(slope.sum(), x)
    print(slope.detach(), second)
    # --8<-- [end:twice]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import SoftplusForwardMode

    def call(x):
        return SoftplusForwardMode.apply(x, 1.0, 20.0)

    x, tangent = torch.tensor(0.0), torch.tensor(10.0)
    print(torch.func.jvp(call, (x,), (tangent,))[1])
    # --8<-- [end:forward]


def main():
    use()
    naive()
    right()
    units()
    tail()
    conventions()
    overflow()
    kept()
    twice()
    forward()


if __name__ == "__main__":
    main()
