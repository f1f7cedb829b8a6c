"""Custom autograd functions: Function, apply, ctx, and when to write one."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Cube]
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


# --8<-- [end:Cube]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.lessons.background.functions import Cube

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x)
    print(y)
    y.backward(torch.tensor([1.0, 10.0]))
    print(x.grad)
    print(Cube.forward(x))
    # --8<-- [end:use]


def stable():
    # --8<-- [start:stable]
    import torch

    def naive(x):
        return (1 + x.exp()).log()

    def rearranged(x):
        return x.clamp(min=0) + (-x.abs()).exp().log1p()

    class Softplus(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return rearranged(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * x.sigmoid()

    for f in (naive, rearranged, Softplus):
        x = torch.tensor([-1.0, 0.0, 100.0], requires_grad=True)
        y = f.apply(x) if f is Softplus else f(x)
        y.sum().backward()
        print(f"{f.__name__:10}", y.detach())
        print("  gradient", x.grad)
    # --8<-- [end:stable]


# --8<-- [start:ProductAndSum]
class ProductAndSum(torch.autograd.Function):
    @staticmethod
    def forward(x, w, factor):
        return x * w * factor, x + w

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, ctx.factor = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, grad_product, grad_sum):
        x, w = ctx.saved_tensors
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_product * w * ctx.factor + grad_sum
        if ctx.needs_input_grad[1]:
            grad_w = grad_product * x * ctx.factor + grad_sum
        print("needed", ctx.needs_input_grad)
        return grad_x, grad_w, None


# --8<-- [end:ProductAndSum]


def several():
    # --8<-- [start:several]
    import torch
    from customgrad.lessons.background.functions import ProductAndSum

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0])
    product, total = ProductAndSum.apply(x, w, 10)
    print(product.tolist(), total.tolist())
    product.sum().backward()
    print(x.grad, w.grad)
    # --8<-- [end:several]


def refused():
    # --8<-- [start:refused]
    import textwrap

    import torch

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x, gradients):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.gradients = inputs[1]

        @staticmethod
        def backward(ctx, grad_output):
            return ctx.gradients(grad_output * 2)

    cases = {
        "(g, None)": lambda g: (g, None),
        "(g.expand(2, 3), None)": lambda g: (g.expand(2, 3), None),
        "g": lambda g: g,
        "(g[:2], None)": lambda g: (g[:2], None),
        "(g, g)": lambda g: (g, g),
    }
    for name, gradients in cases.items():
        x = torch.ones(3, requires_grad=True)
        try:
            Double.apply(x, gradients).sum().backward()
            print(name, "gives", x.grad.tolist())
        except RuntimeError as error:
            print(name, "is refused:")
            text = textwrap.fill(str(error), 68)
            print(textwrap.indent(text, "    "))
    # --8<-- [end:refused]


def on_ctx():
    # --8<-- [start:on_ctx]
    import gc
    import weakref

    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, y):
            ctx.y = y

        @staticmethod
        def backward(ctx, grad_output):
            y = ctx.y
            return grad_output * y

    x = torch.zeros(1, requires_grad=True)
    y = Exp.apply(x)
    y.mul_(10)
    y.backward()
    print("gradient:", x.grad.item())

    gc.disable()
    y = Exp.apply(x)
    memory = weakref.ref(y)
    del y
    print("y is freed:", memory() is None)
    gc.enable()
    # --8<-- [end:on_ctx]


def saved():
    # --8<-- [start:saved]
    import gc
    import weakref

    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, y):
            ctx.save_for_backward(y)

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * y

    x = torch.zeros(1, requires_grad=True)
    y = Exp.apply(x)
    y.mul_(10)
    try:
        y.backward()
    except RuntimeError:
        print("gradient: refused")

    gc.disable()
    y = Exp.apply(x)
    memory = weakref.ref(y)
    del y
    print("y is freed:", memory() is None)
    gc.enable()
    # --8<-- [end:saved]


def modes():
    # --8<-- [start:modes]
    import torch

    class Modes(torch.autograd.Function):
        @staticmethod
        def forward(x):
            print("forward  recorded:", torch.is_grad_enabled())
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad_output):
            print("backward recorded:", torch.is_grad_enabled())
            return grad_output * 2

    x = torch.ones(1, requires_grad=True)
    torch.autograd.grad(Modes.apply(x), x)
    torch.autograd.grad(Modes.apply(x), x, create_graph=True)
    # --8<-- [end:modes]


# --8<-- [start:Combined]
class Combined(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


# --8<-- [end:Combined]


def styles():
    # --8<-- [start:styles]
    import textwrap

    import torch
    from customgrad.lessons.background.functions import Combined, Cube

    x = torch.tensor(2.0)
    print(torch.func.grad(Cube.apply)(x))
    try:
        torch.func.grad(Combined.apply)(x)
    except RuntimeError as error:
        print(textwrap.fill(str(error).partition(". ")[0]))
    # --8<-- [end:styles]


def hook():
    # --8<-- [start:hook]
    import torch

    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = x**2
    y.register_hook(lambda g: g.clamp(-1, 1))
    y.backward(torch.tensor([0.5, 5.0, 50.0]))
    print(x.grad)
    # --8<-- [end:hook]


def recompute():
    # --8<-- [start:recompute]
    import torch
    from torch.utils.checkpoint import checkpoint

    def f(x):
        print("f runs")
        return x.sin().exp()

    x = torch.zeros(3, requires_grad=True)
    y = checkpoint(f, x, use_reentrant=False)
    print("backward")
    y.sum().backward()
    print(x.grad)
    # --8<-- [end:recompute]


def custom_op():
    # --8<-- [start:custom_op]
    import math

    import torch
    from torch import Tensor

    @torch.library.custom_op("handbook::sine", mutates_args=())
    def sine(x: Tensor) -> Tensor:
        return x.new_tensor([math.sin(v) for v in x.tolist()])

    @sine.register_fake
    def _(x):
        return torch.empty_like(x)

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.cos()

    sine.register_autograd(backward, setup_context=setup_context)

    x = torch.zeros(2, requires_grad=True)
    sine(x).backward(torch.tensor([1.0, 10.0]))
    print(x.grad)
    # --8<-- [end:custom_op]


def main():
    use()
    stable()
    several()
    refused()
    on_ctx()
    saved()
    modes()
    styles()
    hook()
    recompute()
    custom_op()


if __name__ == "__main__":
    main()
