"""CG205: two masks that both hold at zero."""


def example():
    # --8<-- [start:example]
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
            grad = grad_output * (x >= 0)
            grad = grad + ctx.slope * grad_output * (x <= 0)
            return grad, None

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        function(x, 0.1).sum().backward()
        return x.grad

    print("got     ", gradient(LeakyReLU.apply))
    print("expected", gradient(torch.nn.functional.leaky_relu))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
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
            grad = torch.where(x > 0, grad_output, ctx.slope * grad_output)
            return grad, None

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        function(x, 0.1).sum().backward()
        return x.grad

    print("got     ", gradient(LeakyReLU.apply))
    print("expected", gradient(torch.nn.functional.leaky_relu))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
