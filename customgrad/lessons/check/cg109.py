"""CG109: tensors in a list, which apply does not see."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class SumOfSquares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, others):
            ctx.save_for_backward(x, *others)
            return torch.stack([x, *others]).square().sum(0)

        @staticmethod
        def backward(ctx, grad_output):
            x = ctx.saved_tensors[0]
            return 2 * x * grad_output, None

    def sample_inputs():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        return x, [torch.ones(2, requires_grad=True)]

    # --8<-- [end:wrong]

    x, others = sample_inputs()
    SumOfSquares.apply(x, others).sum().backward()
    print("got     ", x.grad, others[0].grad)
    x, others = sample_inputs()
    (x.square() + others[0].square()).sum().backward()
    print("expected", x.grad, others[0].grad)
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class SumOfSquares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *others):
            ctx.save_for_backward(x, *others)
            return torch.stack([x, *others]).square().sum(0)

        @staticmethod
        def backward(ctx, grad_output):
            return (*[2 * t * grad_output for t in ctx.saved_tensors],)

    def sample_inputs():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        return x, torch.ones(2, requires_grad=True)

    # --8<-- [end:right]

    x, other = sample_inputs()
    SumOfSquares.apply(x, other).sum().backward()
    print("got     ", x.grad, other.grad)
    x, other = sample_inputs()
    (x.square() + other.square()).sum().backward()
    print("expected", x.grad, other.grad)
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
