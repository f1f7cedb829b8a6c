"""CG206: a clamp in backward that forward does not have."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x.clamp(-5, 5) * grad_output

    # --8<-- [end:wrong]

    def gradient(square):
        x = torch.tensor([1.0, 10.0], requires_grad=True)
        square(x).sum().backward()
        return x.grad

    print("got     ", gradient(Square.apply))
    print("expected", gradient(torch.square))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
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

    # --8<-- [end:right]

    def gradient(square):
        x = torch.tensor([1.0, 10.0], requires_grad=True)
        square(x).sum().backward()
        return x.grad

    print("got     ", gradient(Square.apply))
    print("expected", gradient(torch.square))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
