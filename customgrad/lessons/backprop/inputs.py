"""Several inputs and outputs, numbers among the arguments, broadcasting."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Polar]
class Polar(torch.autograd.Function):
    """The distance of (x, y) from the origin, and its angle."""

    @staticmethod
    def forward(x, y):
        return torch.hypot(x, y), torch.atan2(y, x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        distance, _ = output
        ctx.save_for_backward(x, y, distance)

    @staticmethod
    def backward(ctx, grad_distance, grad_angle):
        x, y, distance = ctx.saved_tensors
        cos, sin = x / distance, y / distance
        grad_x = grad_distance * cos - grad_angle * sin / distance
        grad_y = grad_distance * sin + grad_angle * cos / distance
        return grad_x, grad_y


# --8<-- [end:Polar]


def polar():
    # --8<-- [start:polar]
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(4.0, requires_grad=True)
    G = torch.tensor(10.0), torch.tensor(100.0)

    distance, angle = Polar.apply(x, y)
    print(distance.data, angle.data)
    print(torch.autograd.grad((distance, angle), (x, y), G))

    recorded = torch.hypot(x, y), torch.atan2(y, x)
    print(torch.autograd.grad(recorded, (x, y), G))
    # --8<-- [end:polar]


def unused():
    # --8<-- [start:unused]
    import torch
    from customgrad.lessons.backprop.inputs import Polar

    class Watched(Polar):
        @staticmethod
        def backward(ctx, *grads):
            print("received", *grads)
            return Polar.backward(ctx, *grads)

    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(4.0, requires_grad=True)
    outputs = Watched.apply(x, y)
    outputs[0].backward()  # the distance; the angle is not used
    print("x.grad  ", x.grad)
    # --8<-- [end:unused]


# --8<-- [start:SumAndDifference]
class SumAndDifference(torch.autograd.Function):
    """x + y and x - y; backward skips the one that is not used."""

    @staticmethod
    def forward(x, y):
        return x + y, x - y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_sum, grad_difference):
        print("received", grad_sum, grad_difference)
        if grad_difference is None:
            return grad_sum, grad_sum
        if grad_sum is None:
            return grad_difference, -grad_difference
        return grad_sum + grad_difference, grad_sum - grad_difference


# --8<-- [end:SumAndDifference]


def materialize():
    # --8<-- [start:materialize]
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(4.0, requires_grad=True)

    total, difference = SumAndDifference.apply(x, y)
    print("gradients", *torch.autograd.grad(difference, (x, y)))
    total, difference = SumAndDifference.apply(x, y)
    print("gradients", *torch.autograd.grad(total * difference, (x, y)))
    # --8<-- [end:materialize]


def marked():
    # --8<-- [start:marked]
    import torch

    class Unmarked(torch.autograd.Function):
        @staticmethod
        def forward(x):
            mask = (x > 0).to(x.dtype)
            return x * mask, mask

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output[1])

        @staticmethod
        def backward(ctx, grad_output, grad_mask):
            (mask,) = ctx.saved_tensors
            return grad_output * mask

    class Marked(Unmarked):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output[1])
            ctx.mark_non_differentiable(output[1])

    for function in [Unmarked, Marked]:
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        mask = function.apply(x)[1]
        print(function.__name__, mask.data, mask.requires_grad)
        try:
            print("  gradient", *torch.autograd.grad(mask.sum(), x))
        except RuntimeError as error:
            print(" ", error)
    # --8<-- [end:marked]


# --8<-- [start:Power]
class Power(torch.autograd.Function):
    """x to the power of a number."""

    @staticmethod
    def forward(x, exponent=2.0):
        return x**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, exponent = inputs
        ctx.save_for_backward(x)
        ctx.exponent = exponent

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = grad_output * ctx.exponent * x ** (ctx.exponent - 1)
        return grad_x, None  # None: the exponent is a number


# --8<-- [end:Power]


def power():
    # --8<-- [start:power]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    square = Power.apply(x)
    cube = Power.apply(x, 3.0)
    named = Power.apply(x, exponent=3.0)
    for y in [square, cube, named]:
        print(y.data, *torch.autograd.grad(y.sum(), x))
    # --8<-- [end:power]


def count():
    # --8<-- [start:count]
    import textwrap
    import torch
    from customgrad.lessons.backprop.inputs import Power

    class TooFew(Power):
        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    class NotNone(Power):
        @staticmethod
        def backward(ctx, grad_output):
            return grad_output, grad_output

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for function in [TooFew, NotNone]:
        try:
            function.apply(x, 3.0).sum().backward()
        except RuntimeError as error:
            print(textwrap.fill(f"RuntimeError: {error}", 72))
    # --8<-- [end:count]


def absent():
    # --8<-- [start:absent]
    import torch
    from customgrad.functions import Linear

    X = torch.ones(4, 3, requires_grad=True)
    W = torch.ones(2, 3, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    for arguments in [(X, W), (X, W, None), (X, W, b)]:
        node = Linear.apply(*arguments).grad_fn
        grad_bias = Linear.backward(node, torch.ones(4, 2))[2]
        print(*node.needs_input_grad, grad_bias)
    # --8<-- [end:absent]


def lists():
    # --8<-- [start:lists]
    import torch

    class TotalOfList(torch.autograd.Function):
        @staticmethod
        def forward(tensors):
            return sum(tensors)

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad_output):
            return None

    class Total(torch.autograd.Function):
        @staticmethod
        def forward(*tensors):
            return sum(tensors)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.count = len(inputs)

        @staticmethod
        def backward(ctx, grad_output):
            return (grad_output,) * ctx.count

    parts = [torch.ones(2, requires_grad=True) for _ in range(3)]
    print("in a list ", TotalOfList.apply(parts).requires_grad)
    print("one by one", Total.apply(*parts).requires_grad)
    # --8<-- [end:lists]


# --8<-- [start:Multiply]
class Multiply(torch.autograd.Function):
    """x * y, for shapes that broadcast."""

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        grad_x = (grad_output * y).sum_to_size(x.shape)
        grad_y = (grad_output * x).sum_to_size(y.shape)
        return grad_x, grad_y


# --8<-- [end:Multiply]


def broadcast():
    # --8<-- [start:broadcast]
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    row = torch.tensor([1.0, 10.0, 100.0], requires_grad=True)
    column = torch.tensor([[1.0], [2.0]], requires_grad=True)

    for y in [row, column]:
        G = torch.tensor([[1.0, 1.0, 2.0], [1.0, 1.0, 3.0]])
        (ours,) = torch.autograd.grad(Multiply.apply(x, y), y, G)
        (torchs,) = torch.autograd.grad(x * y, y, G)
        print(tuple(y.shape), ours.tolist(), torch.equal(ours, torchs))
    # --8<-- [end:broadcast]


def repaired():
    # --8<-- [start:repaired]
    import torch
    from customgrad.lessons.backprop.inputs import Multiply

    class NotSummed(Multiply):
        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * y, grad_output * x

    class WrongAxis(Multiply):
        @staticmethod
        def backward(ctx, grad_output):
            x, y = ctx.saved_tensors
            return grad_output * y, (grad_output * x).sum(1)

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    row = torch.tensor([1.0, 10.0], requires_grad=True)
    for function in [Multiply, NotSummed, WrongAxis]:
        (grad,) = torch.autograd.grad(function.apply(x, row).sum(), row)
        print(f"{function.__name__:9}", grad)
    # --8<-- [end:repaired]


def main():
    polar()
    unused()
    materialize()
    marked()
    power()
    count()
    absent()
    lists()
    broadcast()
    repaired()


if __name__ == "__main__":
    main()
