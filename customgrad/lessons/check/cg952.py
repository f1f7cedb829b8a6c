"""CG952: a forward that takes ctx, which torch.func refuses."""


def example():
    # --8<-- [start:example]
    import textwrap

    # --8<-- [start:wrong]
    import torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            output = x.exp()
            ctx.save_for_backward(output)
            return output

        @staticmethod
        def backward(ctx, grad_output):
            (output,) = ctx.saved_tensors
            return grad_output * output

    # --8<-- [end:wrong]

    def slopes(exp):
        slope = torch.func.grad(lambda x: exp(x).sum())
        return torch.func.vmap(slope)(torch.tensor([0.0, 1.0]))

    try:
        print("got     ", slopes(Exp.apply))
    except RuntimeError as error:
        print(textwrap.fill(f"got      {error}", 72))
    print("expected", slopes(torch.exp))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class Exp(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (output,) = ctx.saved_tensors
            return grad_output * output

    # --8<-- [end:right]

    def slopes(exp):
        slope = torch.func.grad(lambda x: exp(x).sum())
        return torch.func.vmap(slope)(torch.tensor([0.0, 1.0]))

    print("got     ", slopes(Exp.apply))
    print("expected", slopes(torch.exp))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
