"""CG102: a forward that returns a list, which apply passes on without a graph."""


def example():
    # --8<-- [start:example]
    import textwrap

    # --8<-- [start:wrong]
    import torch

    class SinCos(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            sin, cos = torch.sin(x), torch.cos(x)
            ctx.save_for_backward(sin, cos)
            return [sin, cos]

        @staticmethod
        def backward(ctx, grad_sin, grad_cos):
            sin, cos = ctx.saved_tensors
            return grad_sin * cos - grad_cos * sin

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        sin, cos = function(x)
        (sin + cos).sum().backward()
        return x.grad

    try:
        print("got     ", gradient(SinCos.apply))
    except RuntimeError as error:
        print(textwrap.fill(f"got      {error}", 72))
    print("expected", gradient(lambda x: (x.sin(), x.cos())))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    import textwrap

    # --8<-- [start:right]
    import torch

    class SinCos(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            sin, cos = torch.sin(x), torch.cos(x)
            ctx.save_for_backward(sin, cos)
            return sin, cos

        @staticmethod
        def backward(ctx, grad_sin, grad_cos):
            sin, cos = ctx.saved_tensors
            return grad_sin * cos - grad_cos * sin

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        sin, cos = function(x)
        (sin + cos).sum().backward()
        return x.grad

    print("got     ", gradient(SinCos.apply))
    print("expected", gradient(lambda x: (x.sin(), x.cos())))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
