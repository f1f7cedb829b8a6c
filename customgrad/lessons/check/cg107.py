"""CG107: a forward that is a plain method, and bypasses backward on an instance."""


def example():
    # --8<-- [start:example]
    import warnings

    # --8<-- [start:wrong]
    import torch

    class Round(torch.autograd.Function):
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([0.4, 1.6], requires_grad=True)
        function(x).sum().backward()
        return x.grad

    with warnings.catch_warnings(action="ignore"):
        layer = Round()
    print("got     ", gradient(layer.forward))
    print("expected", gradient(Round.apply))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    import warnings

    # --8<-- [start:right]
    import torch

    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([0.4, 1.6], requires_grad=True)
        function(x).sum().backward()
        return x.grad

    with warnings.catch_warnings(action="ignore"):
        layer = Round()
    print("apply:  ", gradient(Round.apply))
    try:
        gradient(layer.forward)
    except TypeError as error:
        print("forward:", str(error).rpartition("() ")[2])
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
