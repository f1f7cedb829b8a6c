"""ReLU with a backward of its own, in the shape of the classic exercise.

Contract: the values and the gradients of ``torch.relu``, bit for bit, for every float
dtype and every shape.

Formula, with the cotangent g = grad_output::

    output     = max(input, 0)
    grad_input = 0 where input <= 0, g elsewhere
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]

__all__ = ["CustomReLU", "custom_relu", "custom_relu_demo"]


# --8<-- [start:CustomReLU]
class CustomReLU(torch.autograd.Function):
    """max(input, 0), with the gradient of torch.relu."""

    @staticmethod
    def forward(ctx, input):
        if not input.is_floating_point():
            raise TypeError(
                "CustomReLU: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        # Not a product with a 0/1 mask: inf * 0 is NaN.
        return grad_output.masked_fill(input <= 0, 0)


# --8<-- [end:CustomReLU]


# --8<-- [start:custom_relu]
def custom_relu(input: torch.Tensor) -> torch.Tensor:
    """Return max(input, 0), elementwise, through ``CustomReLU``.

    Args:
        input: float tensor (float16, bfloat16, float32 or float64) of any shape and any
            strides; 0-d, empty and expanded tensors included.

    Saves for backward:
        The input: as many bytes per element as its dtype has, 4 in float32. It is kept by
        reference, so nothing new is allocated while the input is alive anyway.

    Conventions:
        The gradient at 0 is 0, also at -0.0. NaN is carried: the output is NaN there and
        the gradient passes, since NaN is not ``<= 0``. Where ``input <= 0`` the gradient is
        0 whatever the cotangent, infinity and NaN included. -0.0 stays -0.0. Empty tensors
        give empty tensors. Backward can itself be differentiated; the second derivative
        is 0 everywhere. ``torch.func`` transforms and forward mode are not supported: they
        want the style with ``setup_context``, and the exercise's ``forward`` takes ``ctx``.

    Returns:
        A new tensor of the input's shape and dtype.

    Raises:
        TypeError: if the input is no tensor, or its dtype is integer, bool or complex.

    Source:
        Nair and Hinton, "Rectified linear units improve restricted Boltzmann machines",
        ICML 2010; the slope at 0 is that of ``torch.relu``.
    """
    if not isinstance(input, torch.Tensor):
        raise TypeError(
            f"custom_relu: input must be a float tensor, got {type(input).__name__}; "
            "make one with torch.tensor(...)"
        )
    output: torch.Tensor = CustomReLU.apply(input)
    return output


# --8<-- [end:custom_relu]


# --8<-- [start:custom_relu_demo]
def custom_relu_demo(values=None) -> dict:
    """Return the outputs and gradients of CustomReLU on a few numbers.

    Args:
        values: a flat list or tuple of real numbers, computed in
            float64, or a float tensor of any shape, left as it was.
            By default ``[-2.0, -1.0, 0.0, 1.0, 2.0]``.

    Saves for backward:
        The values, 8 bytes per number of a list, released on return.

    Conventions:
        Each cotangent is 1: the gradient is that of the output's sum.
        A tensor's numbers come back nested as its shape is; an empty
        list gives empty lists. Works under ``torch.no_grad()`` too.

    Returns:
        ``{"output": [...], "grad": [...]}``, plain Python numbers.

    Raises:
        TypeError: if ``values`` is anything else: text, nested lists,
            bools, complex numbers, an integer, float8, sparse or meta
            tensor.
        ValueError: if an int in ``values`` is too large for a float.
    """
    if values is None:
        values = [-2.0, -1.0, 0.0, 1.0, 2.0]
    is_list = isinstance(values, (list, tuple))
    if is_list and {type(value) for value in values} <= {int, float}:
        try:
            values = torch.tensor(values, dtype=torch.float64)
        except OverflowError:
            raise ValueError(
                "custom_relu_demo: values must fit a float, "
                "got an int that is too large; use smaller numbers"
            ) from None
    if not isinstance(values, torch.Tensor):
        got = f"{values!r:.60}"
    elif values.layout != torch.strided:
        got = str(values.layout)
    elif values.is_meta:
        got = "a meta tensor, which has no numbers"
    elif not values.is_floating_point() or values.itemsize == 1:
        got = str(values.dtype)
    else:
        got = ""
    if got:
        raise TypeError(
            "custom_relu_demo: values must be a flat list of numbers "
            f"or a float tensor, got {got}; "
            "for example custom_relu_demo([-1.0, 2.0])"
        )

    # Gradients are on here, whatever the caller has set.
    with torch.inference_mode(False):
        x = values.detach().clone().requires_grad_()
        output = CustomReLU.apply(x)
        output.sum().backward()
    return {"output": output.tolist(), "grad": x.grad.tolist()}


# --8<-- [end:custom_relu_demo]
