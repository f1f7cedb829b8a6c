"""CG302: a factor that is detached in backward."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * x * x.detach() * grad_output

    # --8<-- [end:wrong]

    def second(cube):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (grad,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
        return torch.autograd.grad(grad.sum(), x)[0]

    print("got     ", second(Cube.apply))
    print("expected", second(lambda x: x**3))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad_output

    # --8<-- [end:right]

    def second(cube):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (grad,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
        return torch.autograd.grad(grad.sum(), x)[0]

    print("got     ", second(Cube.apply))
    print("expected", second(lambda x: x**3))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
