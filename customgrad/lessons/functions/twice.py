"""Second derivatives of three Functions, each written wrongly once and rightly in two ways."""

# --8<-- [start:imports]
import torch
from torch.autograd import Function

# --8<-- [end:imports]


# --8<-- [start:CubeOnCtx]
class CubeOnCtx(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.square = x * x  # neither an input nor an output
        return x * ctx.square

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 3 * ctx.square


# --8<-- [end:CubeOnCtx]


# --8<-- [start:CubeReturning]
class CubeReturning(Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return x * square, square

    @staticmethod
    def backward(ctx, grad_output, grad_square):
        x, square = ctx.saved_tensors
        return grad_output * 3 * square + grad_square * 2 * x


# --8<-- [end:CubeReturning]


# --8<-- [start:ExpDetached]
class ExpDetached(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.y = y.detach()  # no leak any more, and no graph
        return y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y


# --8<-- [end:ExpDetached]


# --8<-- [start:ExpRecomputing]
class ExpRecomputing(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.exp()


# --8<-- [end:ExpRecomputing]


# --8<-- [start:SinhSaved]
class SinhSaved(Function):
    @staticmethod
    def forward(ctx, x):
        up, down = x.exp(), (-x).exp()
        ctx.save_for_backward(up, down)  # saved, and unknown
        return (up - down) / 2

    @staticmethod
    def backward(ctx, grad_output):
        up, down = ctx.saved_tensors
        return grad_output * (up + down) / 2


# --8<-- [end:SinhSaved]


# --8<-- [start:SinhRecomputing]
class SinhRecomputing(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sinh()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cosh()


# --8<-- [end:SinhRecomputing]


# --8<-- [start:ExpMarked]
class ExpMarked(ExpDetached):
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        return grad_output * ctx.y


# --8<-- [end:ExpMarked]


def cube_wrong():
    # --8<-- [start:cube_wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        CubeOnCtx,
    )

    x = torch.tensor(2.0, requires_grad=True)
    y = CubeOnCtx.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(x.grad.item())
    # --8<-- [end:cube_wrong]


def cube_right():
    # --8<-- [start:cube_right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Cube,
    )

    x = torch.tensor(2.0, requires_grad=True)
    y = Cube.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(x.grad.item())
    # --8<-- [end:cube_right]


def exp_wrong():
    # --8<-- [start:exp_wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        ExpDetached,
    )

    x = torch.tensor(0.0, requires_grad=True)
    y = ExpDetached.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(x.grad.item())
    # --8<-- [end:exp_wrong]


def exp_right():
    # --8<-- [start:exp_right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Exp,
    )

    x = torch.tensor(0.0, requires_grad=True)
    y = Exp.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(x.grad.item())
    # --8<-- [end:exp_right]


def sinh_wrong():
    # --8<-- [start:sinh_wrong]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.twice import (
        SinhSaved,
    )

    x = torch.tensor(2.0).log().requires_grad_()
    y = SinhSaved.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(f"{x.grad.item():.3f}")
    # --8<-- [end:sinh_wrong]


def sinh_right():
    # --8<-- [start:sinh_right]
    import torch
    from torch.autograd import grad
    from customgrad.functions import (
        Sinh,
    )

    x = torch.tensor(2.0).log().requires_grad_()
    y, _ = Sinh.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(f"{x.grad.item():.3f}")
    # --8<-- [end:sinh_right]


def others():
    # --8<-- [start:others]
    import torch
    from customgrad.lessons.functions.twice import (
        CubeReturning,
        ExpRecomputing,
        SinhRecomputing,
    )

    def penalty(call, point):
        """The gradient of y + slope², at one point."""
        x = torch.tensor(point, requires_grad=True)
        y = call(x)
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (y + slope**2).backward()
        return f"{x.grad.item():.3f}"

    print("cube", penalty(lambda x: CubeReturning.apply(x)[0], 2.0))
    print("exp ", penalty(ExpRecomputing.apply, 0.0))
    print("sinh", penalty(SinhRecomputing.apply, 0.6931472))
    # --8<-- [end:others]


def checks():
    # --8<-- [start:checks]
    import torch
    from torch.autograd import gradcheck, gradgradcheck
    from customgrad.functions import cube, exp, sinh
    from customgrad.lessons.functions import twice

    calls = {
        "CubeOnCtx": twice.CubeOnCtx.apply,
        "ExpDetached": twice.ExpDetached.apply,
        "SinhSaved": twice.SinhSaved.apply,
        "cube": cube,
        "exp": exp,
        "sinh": sinh,
    }
    print("              once   twice")
    for name, call in calls.items():
        x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        once = gradcheck(call, x, raise_exception=False)
        twice = gradgradcheck(call, x, raise_exception=False)
        print(f"{name:13} {once!s:6} {twice}")
    # --8<-- [end:checks]


def loud():
    # --8<-- [start:loud]
    import torch
    from customgrad.lessons.functions.twice import CubeOnCtx

    x = torch.tensor(2.0, requires_grad=True)
    y = CubeOnCtx.apply(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    print("has a graph:", slope.requires_grad)
    # --8<-- [end:loud]


def marked():
    # --8<-- [start:marked]
    import torch
    from customgrad.lessons.functions.twice import ExpMarked

    for outer in (torch.sum, lambda y: y**2):
        x = torch.tensor(0.0, requires_grad=True)
        y = ExpMarked.apply(x)
        (g,) = torch.autograd.grad(outer(y), x, create_graph=True)
        try:
            (y + g**2).backward()
            print(x.grad.item(), "without an error")
        except RuntimeError as error:
            print(*str(error).split(" that "), sep="\nthat ")
    # --8<-- [end:marked]


def main():
    cube_wrong()
    cube_right()
    loud()
    exp_wrong()
    exp_right()
    sinh_wrong()
    sinh_right()
    others()
    checks()
    marked()


if __name__ == "__main__":
    main()
