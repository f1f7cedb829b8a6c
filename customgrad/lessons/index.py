"""A ReLU that gradcheck passes and that breaks a skip connection."""


def skip():
    # --8<-- [start:skip]
    import torch
    from torch.autograd import gradcheck

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clamp(min=0)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad_output):
            (y,) = ctx.saved_tensors
            grad_output[y == 0] = 0
            return grad_output

    x = torch.tensor([-2.0, 0.5, 3.0])
    x = x.double().requires_grad_()
    passes = gradcheck(ReLU.apply, x)
    print("gradcheck", passes)

    def gradient(relu):
        x.grad = None
        y = x * 1
        z = relu(y) + y
        z.backward(torch.ones_like(z))
        return x.grad.tolist()

    print("ours ", gradient(ReLU.apply))
    print("torch", gradient(torch.relu))
    # --8<-- [end:skip]


def main():
    skip()


if __name__ == "__main__":
    main()
