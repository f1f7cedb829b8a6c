"""Spikes with a surrogate gradient: both surrogates, a neuron, and one that overflows."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Sigmoid]
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(input, slope):
        return (input > 0).float()

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, ctx.slope = inputs
        ctx.save_for_backward(input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        e = torch.exp(-ctx.slope * input)
        return grad_output * ctx.slope * e / (e + 1) ** 2, None


# --8<-- [end:Sigmoid]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Spike

    x = torch.tensor([-1.0, -0.1, 0.0, 0.1, 1.0], requires_grad=True)
    for surrogate, slope in (("fast_sigmoid", 25.0), ("arctan", 2.0)):
        y = Spike.apply(x, surrogate, slope)
        (grad,) = torch.autograd.grad(y.sum(), x)
        print(y.tolist(), grad)
    # --8<-- [end:use]


def overflows():
    # --8<-- [start:overflows]
    import torch
    from customgrad.lessons.functions.spike import (
        Sigmoid,
    )

    x = torch.tensor([-5.0, -0.1, 5.0])
    x = x.double().requires_grad_()
    y = Sigmoid.apply(x, 200.0)
    y.sum().backward()
    print(y.dtype)
    print(x.grad.isnan().tolist())
    # --8<-- [end:overflows]


def safe():
    # --8<-- [start:safe]
    import torch
    from customgrad.functions import spike

    x = torch.tensor([-5.0, -0.1, 5.0])
    x = x.double().requires_grad_()
    y = spike(x, slope=200.0)
    y.sum().backward()
    print(y.dtype)
    print(x.grad.isnan().tolist())
    # --8<-- [end:safe]


def half():
    # --8<-- [start:half]
    import torch
    from customgrad.functions import spike

    inf, nan = torch.inf, torch.nan
    x = torch.tensor([300.0, 6e4, inf, nan], dtype=torch.float16)
    x.requires_grad_()
    y = spike(x, surrogate="arctan")
    (grad,) = torch.autograd.grad(y, x, torch.full_like(x, 1e4))
    print(y.tolist())
    print(grad)
    z = torch.pi * x
    print(1e4 / (1 + z * z).detach())
    # --8<-- [end:half]


def neuron():
    # --8<-- [start:neuron]
    import torch
    from customgrad.functions import spike

    weight = torch.tensor(0.3, requires_grad=True)
    potential, spikes = torch.tensor(0.0), []
    for _ in range(8):
        potential = 0.9 * potential + weight
        fired = spike(potential - 1)
        potential = potential - fired
        spikes.append(fired)
    count = torch.stack(spikes).sum()
    count.backward()
    print(count.item(), f"{weight.grad.item():.3f}")
    # --8<-- [end:neuron]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import spike

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

    print("spike", kept(spike), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import spike

    for surrogate in ("fast_sigmoid", "arctan"):
        x = torch.tensor([0.0, 0.5, torch.inf], requires_grad=True)
        y = spike(x, surrogate=surrogate, slope=2.0).sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope.sum(), x)
        print(slope.data, second.abs())
    # --8<-- [end:twice]


def main():
    use()
    neuron()
    overflows()
    safe()
    half()
    kept()
    twice()


if __name__ == "__main__":
    main()
