"""RMSNorm: used, in float16, counted, and differentiated twice."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:ConstantRstd]
class ConstantRstd(torch.autograd.Function):
    @staticmethod
    def forward(input):
        square = input.square().mean(-1, keepdim=True)
        rstd = torch.rsqrt(square)
        return input * rstd, rstd

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx, grad_output, _):
        input, rstd = ctx.saved_tensors
        n = input * rstd
        along = (grad_output * n).mean(-1, keepdim=True)
        return rstd * (grad_output - n * along)


# --8<-- [end:ConstantRstd]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import RMSNorm

    x = torch.tensor([[3.0, 4.0], [0.3, 0.4]], requires_grad=True)
    weight = torch.tensor([1.0, 10.0], requires_grad=True)
    y, _ = RMSNorm.apply(x, weight, 1e-6)
    y[:, 0].sum().backward()
    print(y.detach())
    print(x.grad)
    print(weight.grad)
    # --8<-- [end:use]


def halves():
    # --8<-- [start:halves]
    import torch

    x = torch.tensor([300.0, -300.0])
    x = x.to(torch.float16)
    square = x.square().mean()
    rstd = torch.rsqrt(square + 1e-6)
    print((x * rstd).tolist())
    # --8<-- [end:halves]


def widened():
    # --8<-- [start:widened]
    import torch
    from customgrad.functions import rms_norm

    x = torch.tensor([300.0, -300.0])
    x = x.to(torch.float16)
    y = rms_norm(x, eps=1e-6)
    print(y.tolist())
    # --8<-- [end:widened]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import rms_norm

    inf = torch.inf
    rows = torch.tensor([[0.0, 0.0], [inf, 1.0]])
    for call in (rms_norm, lambda x: F.rms_norm(x, (2,))):
        x = rows.clone().requires_grad_()
        y = call(x)
        y.sum().backward()
        print(y.tolist(), x.grad[1].tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import rms_norm

    def kept(call, n=1000):
        """Numbers that forward keeps for backward, in 4 rows of n."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes() // 4
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            x = torch.ones(4, n, requires_grad=True)
            weight = torch.ones(n, requires_grad=True)
            call(x, weight)
        return sum(sizes.values())

    def builtin(x, weight):
        return F.rms_norm(x, x.shape[-1:], weight)

    print("rms_norm   ", kept(rms_norm))
    print("F.rms_norm ", kept(builtin))
    # --8<-- [end:kept]


def constant():
    # --8<-- [start:constant]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.rmsnorm import (
        ConstantRstd,
    )

    x = torch.tensor([1.0, 2.0])
    x.requires_grad_()
    y, _ = ConstantRstd.apply(x)
    (g,) = grad(y[0], x, create_graph=True)
    g.square().sum().backward()
    print(x.grad)
    # --8<-- [end:constant]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.autograd import grad
    from customgrad.functions import RMSNorm

    x = torch.tensor([1.0, 2.0])
    x.requires_grad_()
    y, _ = RMSNorm.apply(x, None, 0.0)
    (g,) = grad(y[0], x, create_graph=True)
    g.square().sum().backward()
    print(x.grad)
    # --8<-- [end:twice]


def main():
    use()
    halves()
    widened()
    conventions()
    kept()
    constant()
    twice()


if __name__ == "__main__":
    main()
