"""A backward that must not be differentiated: torch's marker, and a strict one."""

# --8<-- [start:imports]
import torch
from torch.autograd.function import once_differentiable

# --8<-- [end:imports]


# --8<-- [start:Cube]
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


# --8<-- [end:Cube]


# --8<-- [start:strict_imports]
import torch
from customgrad import once_differentiable

# --8<-- [end:strict_imports]


# --8<-- [start:StrictCube]
class StrictCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output


# --8<-- [end:StrictCube]


def penalty():
    # --8<-- [start:penalty]
    import torch

    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (y + slope**2).backward()
    print("gradient", x.grad.item())
    # --8<-- [end:penalty]


def silent():
    # --8<-- [start:silent]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.once import Cube

    x = torch.tensor(2.0, requires_grad=True)
    y = Cube.apply(x)
    (g,) = grad(y, x, create_graph=True)
    (y + g**2).backward()
    print(x.grad.item())
    # --8<-- [end:silent]


def refused():
    # --8<-- [start:refused]
    import torch
    from torch.autograd import grad
    from customgrad.lessons.functions.once import (
        StrictCube,
    )

    x = torch.tensor(2.0, requires_grad=True)
    y = StrictCube.apply(x)
    (g,) = grad(y, x, create_graph=True)
    try:
        (y + g**2).backward()
    except RuntimeError as error:
        name, said = str(error).split(": ")
        said = said.split(", ")[0]
        print(name, said.split(" be ")[0])
        print("be", said.split(" be ")[1])
    # --8<-- [end:refused]


def first():
    # --8<-- [start:first]
    import torch
    from customgrad.lessons.functions.once import StrictCube

    x = torch.tensor(2.0, requires_grad=True)
    StrictCube.apply(x).backward()
    print("gradient", x.grad.item())
    # --8<-- [end:first]


def main():
    penalty()
    silent()
    refused()
    first()


if __name__ == "__main__":
    main()
