"""CG103: a backward that returns one gradient for two arguments."""


def example():
    # --8<-- [start:example]
    import textwrap

    # --8<-- [start:wrong]
    import torch

    class LeakyReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, slope):
            ctx.save_for_backward(x)
            ctx.slope = slope
            return torch.where(x > 0, x, slope * x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output.where(x > 0, ctx.slope * grad_output)

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([-2.0, 3.0], requires_grad=True)
        function(x, 0.01).sum().backward()
        return x.grad

    try:
        print("got     ", gradient(LeakyReLU.apply))
    except RuntimeError as error:
        print(textwrap.fill(f"got      {error}", 72))
    print("expected", gradient(torch.nn.functional.leaky_relu))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    import textwrap

    # --8<-- [start:right]
    import torch

    class LeakyReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, slope):
            ctx.save_for_backward(x)
            ctx.slope = slope
            return torch.where(x > 0, x, slope * x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            grad = grad_output.where(x > 0, ctx.slope * grad_output)
            return grad, None

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([-2.0, 3.0], requires_grad=True)
        function(x, 0.01).sum().backward()
        return x.grad

    print("got     ", gradient(LeakyReLU.apply))
    print("expected", gradient(torch.nn.functional.leaky_relu))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
