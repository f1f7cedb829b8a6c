"""CG101: a forward without ctx, in a class without setup_context."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor, None

    # --8<-- [end:wrong]

    x = torch.tensor([1.0, 2.0])
    try:
        print("got     ", Scale.apply(x, 3.0))
    except TypeError as error:
        print("got     ", str(error).rpartition("() ")[2])
    print("expected", x * 3.0)
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.factor = inputs

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.factor, None

    # --8<-- [end:right]

    x = torch.tensor([1.0, 2.0])
    print("got     ", Scale.apply(x, 3.0))
    print("expected", x * 3.0)
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
