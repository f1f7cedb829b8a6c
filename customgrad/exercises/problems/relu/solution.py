"""The ReLU exercise, solved."""

# --8<-- [start:solution]
import torch


class CustomReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output.masked_fill(input <= 0, 0)


def custom_relu_demo():
    x = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], requires_grad=True)
    output = CustomReLU.apply(x)
    output.sum().backward()
    return {"output": output.tolist(), "grad": x.grad.tolist()}


# --8<-- [end:solution]
