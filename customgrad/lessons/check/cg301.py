"""CG301: an intermediate that forward computed, without a graph."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Sinh(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(torch.cosh(x))
            return torch.sinh(x)

        @staticmethod
        def backward(ctx, grad_output):
            (cosh,) = ctx.saved_tensors
            return grad_output * cosh

    # --8<-- [end:wrong]

    def second(sinh):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        loss = sinh(x).square().sum()
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        return torch.autograd.grad(grad.sum(), x)[0]

    print("got     ", second(Sinh.apply))
    print("expected", second(torch.sinh))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Sinh(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.sinh(x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * torch.cosh(x)

    # --8<-- [end:right]

    def second(sinh):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        loss = sinh(x).square().sum()
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        return torch.autograd.grad(grad.sum(), x)[0]

    print("got     ", second(Sinh.apply))
    print("expected", second(torch.sinh))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
