"""CG203: a ReLU whose slope at zero is not torch's."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch
    from torch.nn.functional import relu

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x >= 0)

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        function(x).sum().backward()
        return x.grad

    print("got     ", gradient(ReLU.apply))
    print("expected", gradient(relu))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch
    from torch.nn.functional import relu

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * (x > 0)

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
        function(x).sum().backward()
        return x.grad

    print("got     ", gradient(ReLU.apply))
    print("expected", gradient(relu))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
