"""Common pitfalls of a custom ReLU, each beside its repair."""


def unsaved():
    # --8<-- [start:unsaved]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            return input.clamp(min=0)  # nothing is saved

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output.masked_fill(input <= 0, 0)

    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = ReLU.apply(x)
    try:
        y.backward(torch.tensor([10.0, 30.0]))
    except ValueError as error:
        print(error)
    # --8<-- [end:unsaved]


def mask_wrong():
    # --8<-- [start:mask_wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output.clamp(min=0)

    x = torch.tensor([-2.0, 3.0])
    y = ReLU.apply(x.requires_grad_())
    y.backward(torch.tensor([10.0, 30.0]))
    print(x.grad.tolist())
    # --8<-- [end:mask_wrong]


def mask_right():
    # --8<-- [start:mask_right]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 3.0])
    y = ReLU.apply(x.requires_grad_())
    y.backward(torch.tensor([10.0, 30.0]))
    print(x.grad.tolist())
    # --8<-- [end:mask_right]


def zero_wrong():
    # --8<-- [start:zero_wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input < 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 0.0, 3.0])
    y = ReLU.apply(x.requires_grad_())
    g = torch.tensor([10.0, 20.0, 30.0])
    y.backward(g)
    print(x.grad.tolist())
    # --8<-- [end:zero_wrong]


def zero_right():
    # --8<-- [start:zero_right]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 0.0, 3.0])
    y = ReLU.apply(x.requires_grad_())
    g = torch.tensor([10.0, 20.0, 30.0])
    y.backward(g)
    print(x.grad.tolist())
    # --8<-- [end:zero_right]


def chain_wrong():
    # --8<-- [start:chain_wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return (input > 0).float()

    x = torch.tensor([-2.0, 3.0])
    x.requires_grad_()
    for factor in 1, 10:
        x.grad = None
        y = ReLU.apply(x)
        (factor * y.sum()).backward()
        print(factor, x.grad.tolist())
    # --8<-- [end:chain_wrong]


def chain_right():
    # --8<-- [start:chain_right]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 3.0])
    x.requires_grad_()
    for factor in 1, 10:
        x.grad = None
        y = ReLU.apply(x)
        (factor * y.sum()).backward()
        print(factor, x.grad.tolist())
    # --8<-- [end:chain_right]


def instance():
    # --8<-- [start:instance]
    import warnings

    import torch

    class WithSelf(torch.autograd.Function):
        def forward(self, ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

    class Undecorated(torch.autograd.Function):
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output.masked_fill(input <= 0, 0)

    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    try:
        WithSelf.apply(x)
    except TypeError as error:
        print(str(error).rpartition(".")[2])

    warnings.simplefilter("ignore")  # making an instance warns, too
    try:
        Undecorated()(x)
    except RuntimeError as error:
        print(str(error).partition(".")[0])

    Undecorated.apply(x).backward(torch.tensor([10.0, 30.0]))
    print(x.grad.tolist())
    # --8<-- [end:instance]


def count():
    # --8<-- [start:count]
    import textwrap

    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

    class NoneFirst(ReLU):
        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return None, grad_output.masked_fill(input <= 0, 0)

    class NoneLast(ReLU):
        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output.masked_fill(input <= 0, 0), None

    class NoReturn(ReLU):
        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_output.masked_fill(input <= 0, 0)

    for function in NoneFirst, NoneLast, NoReturn:
        x = torch.tensor([-2.0, 3.0], requires_grad=True)
        try:
            function.apply(x).sum().backward()
            print(function.__name__, x.grad)
        except RuntimeError as error:
            print(textwrap.fill(str(error)))
    # --8<-- [end:count]


def product_wrong():
    # --8<-- [start:product_wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * (input > 0)

    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-2.0, nan, 3.0])
    y = ReLU.apply(x.requires_grad_())
    y.backward(torch.tensor([inf, 20, 30]))
    print(x.grad.tolist())
    # --8<-- [end:product_wrong]


def product_right():
    # --8<-- [start:product_right]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    inf, nan = float("inf"), float("nan")
    x = torch.tensor([-2.0, nan, 3.0])
    y = ReLU.apply(x.requires_grad_())
    y.backward(torch.tensor([inf, 20, 30]))
    print(x.grad.tolist())
    # --8<-- [end:product_right]


def inplace_wrong():
    # --8<-- [start:inplace_wrong]
    import torch
    from torch.autograd import gradcheck

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_output[input <= 0] = 0
            return grad_output

    x = torch.tensor([-2.0, 3.0])
    y = x.requires_grad_() + ReLU.apply(x)
    y.backward(torch.ones(2))
    print(x.grad.tolist())
    print(gradcheck(ReLU.apply, x.double()))
    # --8<-- [end:inplace_wrong]


def inplace_right():
    # --8<-- [start:inplace_right]
    import torch
    from torch.autograd import gradcheck

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 3.0])
    y = x.requires_grad_() + ReLU.apply(x)
    y.backward(torch.ones(2))
    print(x.grad.tolist())
    print(gradcheck(ReLU.apply, x.double()))
    # --8<-- [end:inplace_right]


def attribute_wrong():
    # --8<-- [start:attribute_wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.input = input
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            input = ctx.input
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 3.0])
    hidden = 1 * x.requires_grad_()
    y = ReLU.apply(hidden)
    hidden += 10  # its memory is reused
    y.sum().backward()
    print(x.grad.tolist())
    # --8<-- [end:attribute_wrong]


def attribute_right():
    # --8<-- [start:attribute_right]
    import textwrap

    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return input.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            grad_input = grad_output.clone()
            grad_input[input <= 0] = 0
            return grad_input

    x = torch.tensor([-2.0, 3.0])
    hidden = 1 * x.requires_grad_()
    y = ReLU.apply(hidden)
    hidden += 10  # its memory is reused
    try:
        y.sum().backward()
    except RuntimeError as error:
        text = str(error).partition(":")[0]
        print(textwrap.fill(text, 40))
    # --8<-- [end:attribute_right]


def main():
    unsaved()
    mask_wrong()
    mask_right()
    zero_wrong()
    zero_right()
    chain_wrong()
    chain_right()
    instance()
    count()
    product_wrong()
    product_right()
    inplace_wrong()
    inplace_right()
    attribute_wrong()
    attribute_right()


if __name__ == "__main__":
    main()
