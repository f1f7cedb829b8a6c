"""CG207: a batch size that is written into backward."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class MeanSquare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.square().mean()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x / 4

    # --8<-- [end:wrong]

    def gradient(loss):
        x = torch.ones(8, requires_grad=True)
        loss(x).backward()
        return x.grad[:2]

    print("got     ", gradient(MeanSquare.apply))
    print("expected", gradient(lambda x: x.square().mean()))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class MeanSquare(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.square().mean()

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x / x.numel()

    # --8<-- [end:right]

    def gradient(loss):
        x = torch.ones(8, requires_grad=True)
        loss(x).backward()
        return x.grad[:2]

    print("got     ", gradient(MeanSquare.apply))
    print("expected", gradient(lambda x: x.square().mean()))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
