"""CG303: once_differentiable, which does not raise in a gradient penalty."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch
    from torch.autograd.function import once_differentiable

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @once_differentiable
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad_output

    # --8<-- [end:wrong]

    def has_graph(cube):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (grad,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
        return grad.requires_grad

    print("got     ", has_graph(Cube.apply))
    print("expected", has_graph(lambda x: x**3))
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

    def has_graph(cube):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (grad,) = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
        return grad.requires_grad

    print("got     ", has_graph(Cube.apply))
    print("expected", has_graph(lambda x: x**3))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
