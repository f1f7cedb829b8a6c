"""Sorting: used, scattered back the wrong way and the right one, and differentiated twice."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Gathered]
class Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values, indices = x.sort()
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        return values, indices

    @staticmethod
    def backward(ctx, grad_values, _):
        (indices,) = ctx.saved_tensors
        return grad_values.gather(-1, indices)


# --8<-- [end:Gathered]


# --8<-- [start:Handed]
class Handed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, materialize):
        values, indices = x.sort()
        ctx.mark_non_differentiable(indices)
        ctx.set_materialize_grads(materialize)
        return values, indices

    @staticmethod
    def backward(ctx, grad_values, grad_indices):
        print("handed for the indices:", grad_indices)
        return grad_values, None


# --8<-- [end:Handed]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import Sort

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = Sort.apply(x, -1, False, False)
    values.backward(torch.tensor([10.0, 20.0, 30.0]))
    print(values, indices)
    print(x.grad)
    # --8<-- [end:use]


def wrapped():
    # --8<-- [start:wrapped]
    import torch
    from customgrad.functions import sort

    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]], requires_grad=True)
    values, indices = sort(x, dim=0, descending=True)
    print(values.tolist(), indices.tolist())
    # --8<-- [end:wrapped]


def wrong():
    # --8<-- [start:wrong]
    import torch
    from customgrad.lessons.functions.sort import (
        Gathered,
    )

    for n in (2, 3):
        x = torch.tensor([3.0, 1.0, 2.0][:n])
        x.requires_grad_()
        g = torch.tensor([10.0, 20.0, 30.0][:n])
        y, _ = Gathered.apply(x)
        y.backward(g)
        print(x.grad)
    # --8<-- [end:wrong]


def right():
    # --8<-- [start:right]
    import torch
    from customgrad.functions import (
        sort,
    )

    for n in (2, 3):
        x = torch.tensor([3.0, 1.0, 2.0][:n])
        x.requires_grad_()
        g = torch.tensor([10.0, 20.0, 30.0][:n])
        y, _ = sort(x)
        y.backward(g)
        print(x.grad)
    # --8<-- [end:right]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import sort

    for call in (sort, torch.sort):
        x = torch.tensor([torch.nan, 1.0, -0.0, 1.0, torch.inf, 0.0])
        x.requires_grad_()
        values, indices = call(x, stable=True)
        values.backward(torch.arange(6.0))
        print(values.tolist(), indices.tolist(), x.grad.tolist())
    # --8<-- [end:conventions]


def marked():
    # --8<-- [start:marked]
    import torch
    from customgrad.functions import sort

    values, indices = sort(torch.ones(3, requires_grad=True))
    print(values.requires_grad, indices.requires_grad, indices.dtype)
    # --8<-- [end:marked]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import sort

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

    print("sort     ", kept(sort), "bytes")
    print("composed ", kept(lambda x: x.gather(-1, x.argsort())), "bytes")
    # --8<-- [end:kept]


def handed():
    # --8<-- [start:handed]
    import torch
    from customgrad.lessons.functions.sort import Handed

    for materialize in (True, False):
        x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
        values, _ = Handed.apply(x, materialize)
        values.sum().backward()
    # --8<-- [end:handed]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import sort

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, _ = sort(x)
    y = (values**3 * torch.tensor([1.0, 10.0, 100.0])).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    print(second)
    # --8<-- [end:twice]


def main():
    use()
    wrapped()
    wrong()
    right()
    conventions()
    marked()
    kept()
    handed()
    twice()


if __name__ == "__main__":
    main()
