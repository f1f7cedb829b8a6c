"""CG104: a gradient that is not summed to its input's shape."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class MeanScale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x.mean(0) * scale

        @staticmethod
        def backward(ctx, grad_output):
            x, scale = ctx.saved_tensors
            grad_x = (grad_output * scale / len(x)).expand_as(x)
            return grad_x, grad_output * x

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.ones(3, 2)
        scale = torch.tensor([2.0, 5.0], requires_grad=True)
        function(x, scale).sum().backward()
        return scale.grad

    print("got     ", gradient(MeanScale.apply))
    print("expected", gradient(lambda x, scale: x.mean(0) * scale))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class MeanScale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x, scale)
            return x.mean(0) * scale

        @staticmethod
        def backward(ctx, grad_output):
            x, scale = ctx.saved_tensors
            grad_x = (grad_output * scale / len(x)).expand_as(x)
            return grad_x, grad_output * x.mean(0)

    # --8<-- [end:right]

    def gradient(function):
        x = torch.ones(3, 2)
        scale = torch.tensor([2.0, 5.0], requires_grad=True)
        function(x, scale).sum().backward()
        return scale.grad

    print("got     ", gradient(MeanScale.apply))
    print("expected", gradient(lambda x, scale: x.mean(0) * scale))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
