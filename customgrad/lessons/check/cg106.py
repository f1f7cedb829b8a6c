"""CG106: a gradient for an index, which torch throws away."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, index):
            ctx.save_for_backward(index)
            ctx.shape = x.shape
            return x[index]

        @staticmethod
        def backward(ctx, grad_output):
            (index,) = ctx.saved_tensors
            grad = grad_output.new_zeros(ctx.shape)
            return None, grad.index_add(0, index, grad_output)

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
        function(x, torch.tensor([2, 0])).sum().backward()
        return x.grad

    print("got     ", gradient(Pick.apply))
    print("expected", gradient(lambda x, index: x[index]))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Pick(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, index):
            ctx.save_for_backward(index)
            ctx.shape = x.shape
            return x[index]

        @staticmethod
        def backward(ctx, grad_output):
            (index,) = ctx.saved_tensors
            grad = grad_output.new_zeros(ctx.shape)
            return grad.index_add(0, index, grad_output), None

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
        function(x, torch.tensor([2, 0])).sum().backward()
        return x.grad

    print("got     ", gradient(Pick.apply))
    print("expected", gradient(lambda x, index: x[index]))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
