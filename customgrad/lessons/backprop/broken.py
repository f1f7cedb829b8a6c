"""Mistakes of published custom backprop examples, each beside its repair."""

# ruff: noqa: F821 (a name that was never defined is one of the mistakes)


def saved_wrong():
    # --8<-- [start:saved_wrong]
    import torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

    x = torch.tensor([1.0, 2.0, 3.0])
    x.requires_grad_()
    Square.apply(x).sum().backward()
    print(x.grad)
    # --8<-- [end:saved_wrong]


def saved_right():
    # --8<-- [start:saved_right]
    import torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

    x = torch.tensor([1.0, 2.0, 3.0])
    x.requires_grad_()
    Square.apply(x).sum().backward()
    print(x.grad)
    # --8<-- [end:saved_right]


def unchanged_wrong():
    # --8<-- [start:unchanged_wrong]
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            grad_w = grad_output.T @ x
            return grad_output, grad_w

    x = torch.tensor([[1.0, 2.0]])
    w = torch.full((2, 2), 3.0)
    x.requires_grad_()
    w.requires_grad_()
    Linear.apply(x, w).sum().backward()
    print("w", w.grad.tolist())
    print("x", x.grad.tolist())
    # --8<-- [end:unchanged_wrong]


def unchanged_right():
    # --8<-- [start:unchanged_right]
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            grad_w = grad_output.T @ x
            return grad_output @ w, grad_w

    x = torch.tensor([[1.0, 2.0]])
    w = torch.full((2, 2), 3.0)
    x.requires_grad_()
    w.requires_grad_()
    Linear.apply(x, w).sum().backward()
    print("w", w.grad.tolist())
    print("x", x.grad.tolist())
    # --8<-- [end:unchanged_right]


def transposed_wrong():
    # --8<-- [start:transposed_wrong]
    import textwrap
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            grad_w = x.T @ grad_output
            return grad_output @ w, grad_w

    x = torch.tensor([[1.0, 5.0]])
    w = torch.ones(3, 2, requires_grad=True)
    G = torch.tensor([[1.0, 2.0, 3.0]])
    try:
        Linear.apply(x, w).backward(G)
    except RuntimeError as error:
        text = f"RuntimeError: {error}"
        print(textwrap.fill(text, 40))
    # --8<-- [end:transposed_wrong]


def transposed_right():
    # --8<-- [start:transposed_right]
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            grad_w = grad_output.T @ x
            return grad_output @ w, grad_w

    x = torch.tensor([[1.0, 5.0]])
    w = torch.ones(3, 2, requires_grad=True)
    G = torch.tensor([[1.0, 2.0, 3.0]])
    Linear.apply(x, w).backward(G)
    print(w.grad.tolist())
    # --8<-- [end:transposed_right]


def square_wrong():
    # --8<-- [start:square_wrong]
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            grad_w = x.T @ grad_output
            return grad_output @ w, grad_w

    x = torch.tensor([[1.0, 5.0]])
    w = torch.ones(2, 2, requires_grad=True)
    G = torch.tensor([[1.0, 2.0]])
    Linear.apply(x, w).backward(G)
    print(w.grad.tolist())
    # --8<-- [end:square_wrong]


def square_right():
    # --8<-- [start:square_right]
    import torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w.T

        @staticmethod
        def backward(ctx, grad_output):
            x, w = ctx.saved_tensors
            grad_w = grad_output.T @ x
            return grad_output @ w, grad_w

    x = torch.tensor([[1.0, 5.0]])
    w = torch.ones(2, 2, requires_grad=True)
    G = torch.tensor([[1.0, 2.0]])
    Linear.apply(x, w).backward(G)
    print(w.grad.tolist())
    # --8<-- [end:square_right]


def outside_wrong():
    # --8<-- [start:outside_wrong]
    import torch
    from customgrad.functions import (
        CustomReLU,
    )

    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([-1.0, 1.0])
    w.requires_grad_()
    hidden = x * w
    loss = CustomReLU.apply(hidden.sum())
    loss.backward()
    print(w.grad)
    # --8<-- [end:outside_wrong]


def outside_right():
    # --8<-- [start:outside_right]
    import torch
    from customgrad.functions import (
        CustomReLU,
    )

    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([-1.0, 1.0])
    w.requires_grad_()
    hidden = x * w
    loss = CustomReLU.apply(hidden).sum()
    loss.backward()
    print(w.grad)
    # --8<-- [end:outside_right]


def bypassed_wrong():
    # --8<-- [start:bypassed_wrong]
    import torch
    from torch import nn

    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.round(x)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    class Rounding(nn.Module):
        def forward(self, x):
            return torch.round(x)

    x = torch.tensor([0.4, 2.6])
    x.requires_grad_()
    y = Rounding()(x)
    y.sum().backward()
    print(y.grad_fn.name(), x.grad)
    # --8<-- [end:bypassed_wrong]


def bypassed_right():
    # --8<-- [start:bypassed_right]
    import torch
    from torch import nn

    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.round(x)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    class Rounding(nn.Module):
        def forward(self, x):
            return Round.apply(x)

    x = torch.tensor([0.4, 2.6])
    x.requires_grad_()
    y = Rounding()(x)
    y.sum().backward()
    print(y.grad_fn.name(), x.grad)
    # --8<-- [end:bypassed_right]


def missing_wrong():
    # --8<-- [start:missing_wrong]
    import torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            return 2 * x * grad_output

    data = torch.tensor([1.0, 2.0])
    data.requires_grad_()
    y = Square.apply(data)
    print(y.tolist())
    try:
        y.sum().backward()
    except NameError as error:
        print("NameError:", error)
    # --8<-- [end:missing_wrong]


def missing_right():
    # --8<-- [start:missing_right]
    import torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output

    data = torch.tensor([1.0, 2.0])
    data.requires_grad_()
    y = Square.apply(data)
    print(y.tolist())
    y.sum().backward()
    print(data.grad.tolist())
    # --8<-- [end:missing_right]


def undefined_wrong():
    # --8<-- [start:undefined_wrong]
    import textwrap
    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            return scale * x

        @staticmethod
        def backward(ctx, grad_output):
            grad_x = ctx.scale * grad_output
            return grad_x, None

    x = torch.tensor([1.0, 2.0])
    x.requires_grad_()
    y = Scale.apply(x, 3.0)
    print(y.tolist())
    try:
        y.sum().backward()
    except AttributeError as error:
        text = f"AttributeError: {error}"
        print(textwrap.fill(text, 40))
    # --8<-- [end:undefined_wrong]


def undefined_right():
    # --8<-- [start:undefined_right]
    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.scale = scale
            return scale * x

        @staticmethod
        def backward(ctx, grad_output):
            grad_x = ctx.scale * grad_output
            return grad_x, None

    x = torch.tensor([1.0, 2.0])
    x.requires_grad_()
    y = Scale.apply(x, 3.0)
    print(y.tolist())
    y.sum().backward()
    print(x.grad.tolist())
    # --8<-- [end:undefined_right]


def unwritten_wrong():
    # --8<-- [start:unwritten_wrong]
    import torch

    w = torch.tensor(1.0)
    w.requires_grad_()
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(3):
        loss = (w - 3) ** 2
        g = torch.autograd.grad(loss, w)[0]
        optimizer.zero_grad()
        optimizer.step()
        print(f"{loss.item():.3f}", g)
    # --8<-- [end:unwritten_wrong]


def unwritten_right():
    # --8<-- [start:unwritten_right]
    import torch

    w = torch.tensor(1.0)
    w.requires_grad_()
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(3):
        loss = (w - 3) ** 2
        g = torch.autograd.grad(loss, w)[0]
        w.grad = g
        optimizer.step()
        print(f"{loss.item():.3f}", g)
    # --8<-- [end:unwritten_right]


def none():
    # --8<-- [start:none]
    import warnings

    import torch

    class Forgets(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad_output):
            2 * grad_output  # no return

    a, b, c, d, fixed = (torch.ones(1) for _ in range(5))
    for leaf in (a, b, c, d):
        leaf.requires_grad_()
    step = 2 * a
    loss = step * fixed + b.detach() + Forgets.apply(c)
    loss.backward()

    warnings.simplefilter("ignore")  # step.grad: torch warns
    print("a, a leaf               ", a.grad)
    print("fixed, no requires_grad ", fixed.grad)
    print("step, not a leaf        ", step.grad)
    print("b, detached             ", b.grad)
    print("c, backward returns None", c.grad)
    print("d, not in the loss      ", d.grad)
    # --8<-- [end:none]


def main():
    saved_wrong()
    saved_right()
    unchanged_wrong()
    unchanged_right()
    transposed_wrong()
    transposed_right()
    square_wrong()
    square_right()
    outside_wrong()
    outside_right()
    bypassed_wrong()
    bypassed_right()
    missing_wrong()
    missing_right()
    undefined_wrong()
    undefined_right()
    unwritten_wrong()
    unwritten_right()
    none()


if __name__ == "__main__":
    main()
