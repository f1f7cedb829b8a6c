"""CG110: a forward that asks a copy whether it requires a gradient."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class SquaredNorm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            flat = x.reshape(-1)
            ctx.save_for_backward(x)
            ctx.wanted = flat.requires_grad
            return flat @ flat

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * grad_output * x if ctx.wanted else None

    # --8<-- [end:wrong]

    def gradient(function):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        function(x.T).backward()
        return x.grad if x.grad is None else x.grad.tolist()

    print("got     ", gradient(SquaredNorm.apply))
    print("expected", gradient(lambda x: x.square().sum()))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class SquaredNorm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            flat = x.reshape(-1)
            ctx.save_for_backward(x)
            ctx.wanted = ctx.needs_input_grad[0]
            return flat @ flat

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * grad_output * x if ctx.wanted else None

    # --8<-- [end:right]

    def gradient(function):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        function(x.T).backward()
        return x.grad if x.grad is None else x.grad.tolist()

    print("got     ", gradient(SquaredNorm.apply))
    print("expected", gradient(lambda x: x.square().sum()))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
