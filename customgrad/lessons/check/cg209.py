"""CG209: a square without the conjugate."""


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
            return grad_output * 2 * x

    # --8<-- [end:wrong]

    def gradient(square):
        x = torch.tensor([1 + 2j], requires_grad=True)
        square(x).real.sum().backward()
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
            return grad_output * 2 * x.conj()

    # --8<-- [end:right]

    def gradient(square):
        x = torch.tensor([1 + 2j], requires_grad=True)
        square(x).real.sum().backward()
        return x.grad

    print("got     ", gradient(Square.apply))
    print("expected", gradient(torch.square))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
