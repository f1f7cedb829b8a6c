"""Top-k: used, with a float mask that is marked or not, and differentiated twice."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:TopMask]
class TopMask(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k, marked):
        values, indices = x.topk(k)
        mask = torch.zeros_like(x).scatter(-1, indices, 1.0)
        if marked:
            ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(indices)
        ctx.shape = x.shape
        return values, mask

    @staticmethod
    def backward(ctx, grad_values, _):
        (indices,) = ctx.saved_tensors
        zeros = grad_values.new_zeros(ctx.shape)
        grad = zeros.scatter(-1, indices, grad_values)
        return grad, None, None


# --8<-- [end:TopMask]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import TopK

    x = torch.tensor([3.0, 1.0, 4.0, 2.0], requires_grad=True)
    values, indices = TopK.apply(x, 2, -1, True, True)
    values.backward(torch.tensor([10.0, 20.0]))
    print(values, indices)
    print(x.grad)
    # --8<-- [end:use]


def wrapped():
    # --8<-- [start:wrapped]
    import torch
    from customgrad.functions import topk

    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]], requires_grad=True)
    values, indices = topk(x, k=1, dim=0, largest=False)
    print(values.tolist(), indices.tolist())
    # --8<-- [end:wrapped]


def unmarked():
    # --8<-- [start:unmarked]
    import torch
    from customgrad.lessons.functions.topk import (
        TopMask,
    )

    x = torch.tensor([3.0, 1.0, 4.0, 2.0])
    x.requires_grad_()
    _, mask = TopMask.apply(x, 2, False)
    loss = (1 - mask).sum()
    loss.backward()
    print(x.grad)
    # --8<-- [end:unmarked]


def marked():
    # --8<-- [start:marked]
    import torch
    from customgrad.lessons.functions.topk import (
        TopMask,
    )

    x = torch.tensor([3.0, 1.0, 4.0, 2.0])
    x.requires_grad_()
    _, mask = TopMask.apply(x, 2, True)
    loss = (1 - mask).sum()
    try:
        loss.backward()
    except RuntimeError as error:
        print(str(error)[:42])
    # --8<-- [end:marked]


def ties():
    # --8<-- [start:ties]
    import torch
    from customgrad.functions import topk

    def largest(x):
        return topk(x, 1)[0]

    for call in (largest, lambda x: torch.topk(x, 1)[0], torch.amax):
        x = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
        call(x).sum().backward()
        print(x.grad)
    # --8<-- [end:ties]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import topk

    def kept(call, n=1000):
        """Bytes that forward keeps for backward."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(n, requires_grad=True))
        return sum(sizes.values())

    def composed(x):
        return x.gather(-1, x.argsort(descending=True)[:2])

    print("topk     ", kept(lambda x: topk(x, 2)), "bytes")
    print("composed ", kept(composed), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import topk

    x = torch.tensor([3.0, 1.0, 4.0, 2.0], requires_grad=True)
    values, _ = topk(x, 2)
    y = (values**3).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    print(second)
    # --8<-- [end:twice]


def main():
    use()
    wrapped()
    ties()
    unmarked()
    marked()
    kept()
    twice()


if __name__ == "__main__":
    main()
