"""CG201: a derivative of the output, applied to the input."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Sigmoid(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            output = torch.sigmoid(x)
            ctx.save_for_backward(x)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * y * (1 - y)

    # --8<-- [end:wrong]

    def gradient(sigmoid):
        x = torch.tensor([0.5, 2.0], requires_grad=True)
        sigmoid(x).sum().backward()
        return x.grad

    print("got     ", gradient(Sigmoid.apply))
    print("expected", gradient(torch.sigmoid))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Sigmoid(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            output = torch.sigmoid(x)
            ctx.save_for_backward(output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * y * (1 - y)

    # --8<-- [end:right]

    def gradient(sigmoid):
        x = torch.tensor([0.5, 2.0], requires_grad=True)
        sigmoid(x).sum().backward()
        return x.grad

    print("got     ", gradient(Sigmoid.apply))
    print("expected", gradient(torch.sigmoid))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
