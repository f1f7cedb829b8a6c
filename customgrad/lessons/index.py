"""A ReLU that gradcheck passes and that breaks a skip connection."""


def skip():
    # --8<-- [start:skip]
    import torch
    import customgrad

    class ReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            grad_output[x <= 0] = 0
            return grad_output

    x = torch.tensor([-2.0, 0.5, 3.0]).double().requires_grad_()
    print("gradcheck ", torch.autograd.gradcheck(ReLU.apply, x))

    def slope(relu):
        z = relu(x) + x
        return torch.autograd.grad(z, x, torch.ones_like(z))[0].tolist()

    print("this one  ", slope(ReLU.apply))
    print("torch.relu", slope(torch.relu))
    print("customgrad", customgrad.check(ReLU, x).failures[0].message)
    # --8<-- [end:skip]


def main():
    skip()


if __name__ == "__main__":
    main()
