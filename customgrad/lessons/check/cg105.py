"""CG105: a float32 gradient of a float64 input."""


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
            slope = 2 * x.float()
            return grad_output.float() * slope

    # --8<-- [end:wrong]

    def gradient(square):
        x = torch.tensor([0.1], dtype=torch.float64, requires_grad=True)
        square(x).sum().backward()
        return f"{x.grad.item():.12f} {x.grad.dtype}"

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
            slope = 2 * x
            return grad_output * slope

    # --8<-- [end:right]

    def gradient(square):
        x = torch.tensor([0.1], dtype=torch.float64, requires_grad=True)
        square(x).sum().backward()
        return f"{x.grad.item():.12f} {x.grad.dtype}"

    print("got     ", gradient(Square.apply))
    print("expected", gradient(torch.square))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
