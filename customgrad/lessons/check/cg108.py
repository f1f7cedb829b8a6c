"""CG108: a forward that returns None when no gradient is needed."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class Erf(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if x.requires_grad:
                ctx.save_for_backward(x)
                return torch.erf(x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 / torch.pi**0.5 * torch.exp(-x * x)

    # --8<-- [end:wrong]

    x = torch.tensor([0.5, 1.0])
    print("got     ", Erf.apply(x))
    print("expected", torch.erf(x))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Erf(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.erf(x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 / torch.pi**0.5 * torch.exp(-x * x)

    # --8<-- [end:right]

    x = torch.tensor([0.5, 1.0])
    print("got     ", Erf.apply(x))
    print("expected", torch.erf(x))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
