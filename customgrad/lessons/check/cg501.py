"""CG501: a backward that writes into grad_output, which another branch reads."""


def example():
    # --8<-- [start:example]
    # --8<-- [start:wrong]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clamp(min=0)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (output,) = ctx.saved_tensors
            grad_output[output == 0] = 0
            return grad_output

    # --8<-- [end:wrong]

    def gradient(relu):
        x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
        y = relu(x) + x
        y.backward(torch.ones(3))
        return x.grad

    print("got     ", gradient(ReLU.apply))
    print("expected", gradient(torch.relu))
    # --8<-- [end:example]


def fixed():
    # --8<-- [start:fixed]
    # --8<-- [start:right]
    import torch

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clamp(min=0)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad_output):
            (output,) = ctx.saved_tensors
            return grad_output * (output > 0)

    # --8<-- [end:right]

    def gradient(relu):
        x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
        y = relu(x) + x
        y.backward(torch.ones(3))
        return x.grad

    print("got     ", gradient(ReLU.apply))
    print("expected", gradient(torch.relu))
    # --8<-- [end:fixed]


def main():
    example()
    fixed()


if __name__ == "__main__":
    main()
