"""CG204: a maximum that gives each of its equals the whole gradient."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Max(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            largest = x.max()
            ctx.save_for_backward(x, largest)
            return largest

        @staticmethod
        def backward(ctx, grad_output):
            x, largest = ctx.saved_tensors
            mask = x == largest
            return grad_output * mask

    # --8<-- [end:wrong]

    def gradient(maximum):
        x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
        maximum(x).backward()
        return x.grad

    print("got     ", gradient(Max.apply))
    print("expected", gradient(torch.amax))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Max(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            largest = x.max()
            ctx.save_for_backward(x, largest)
            return largest

        @staticmethod
        def backward(ctx, grad_output):
            x, largest = ctx.saved_tensors
            mask = x == largest
            return grad_output * mask / mask.sum()

    # --8<-- [end:right]

    def gradient(maximum):
        x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
        maximum(x).backward()
        return x.grad

    print("got     ", gradient(Max.apply))
    print("expected", gradient(torch.amax))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
