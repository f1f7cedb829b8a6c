"""A linear layer and its cross-entropy, chunk by chunk: the logits never exist all at once.

Contract: the value and the gradients of ``cross_entropy(linear(input, weight, bias), target)``.

Formula, with the logits Z = X Wᵀ + bias, P their softmax, Y the one-hot targets, s a row's share in
the loss (1, or 1 / the number of targets; 0 where ignored) and the cotangent g, one number::

    loss        = the sum of s (logsumexp(Z) - Z[target]) over the rows
    grad_input  = g s (P - Y) W
    grad_weight = g (P - Y)ᵀ s X
    grad_bias   = g times the sum of s (P - Y) over the rows

Forward computes them for g = 1, while it holds a chunk of P, and backward multiplies.
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch
from torch.nn import functional as F

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["LinearCrossEntropy", "linear_cross_entropy"]


# --8<-- [start:LinearCrossEntropy]
def labels(target, dtype, ignore_index, reduction):
    """Return the rows that count, labels to look up, a divisor."""
    keep = (target != ignore_index).unsqueeze(1)
    label = torch.where(keep, target.unsqueeze(1), 0)
    one = keep.new_ones((), dtype=dtype)
    return keep, label, keep.sum() * one if reduction == "mean" else one


def zeros(tensor, dtype):
    """Return where its gradient is gathered, or None."""
    if tensor is None or not tensor.requires_grad:
        return None
    return torch.zeros_like(tensor, dtype=dtype)


class LinearCrossEntropy(torch.autograd.Function):
    """Gives the loss, and its gradients for a cotangent of 1."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        input, weight, target, bias=None, ignore_index=-100,
        reduction="mean", chunk=128, gradients=True,
    ):  # fmt: skip
        if not input.is_floating_point():
            raise TypeError(
                "LinearCrossEntropy: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        wide = torch.promote_types(input.dtype, torch.float32)
        dtype = result = input.dtype
        if torch.is_autocast_enabled(input.device.type):
            result = wide  # as cross_entropy, after linear
            if wide == torch.float32:
                dtype = torch.get_autocast_dtype(input.device.type)
        w = weight.to(dtype)
        b = None if bias is None else bias.to(dtype)
        keep, label, n = labels(target, wide, ignore_index, reduction)
        grad_input = grad_weight = grad_bias = None
        if gradients:
            grad_input = zeros(input, input.dtype)
            grad_weight = zeros(weight, wide)
            grad_bias = zeros(bias, wide)
        loss = n.new_zeros(())
        for start in range(0, len(input), chunk):
            rows = slice(start, start + chunk)
            x, y, k = input[rows].to(dtype), label[rows], keep[rows]
            p = F.linear(x, w, b).to(wide).log_softmax(1)
            likelihood = p.gather(1, y)
            loss = loss - torch.where(k, likelihood, 0).sum()
            if not gradients:
                continue
            # P - Y; expm1 keeps the digits of a sure prediction.
            p = p.exp_().scatter_(1, y, likelihood.expm1())
            share = k / n.clamp(min=1)
            if grad_input is not None:
                grad_input[rows] = share * (p.to(dtype) @ w)
            if grad_weight is not None:
                grad_weight.addmm_(p.T, share * x)
            if grad_bias is not None:
                grad_bias += torch.mv(p.T, share.squeeze(1))
            del p  # before the next chunk's logits
        if grad_weight is not None:
            grad_weight = grad_weight.to(weight.dtype)
        if grad_bias is not None:
            grad_bias = grad_bias.to(bias.dtype)
        return (loss / n).to(result), grad_input, grad_weight, grad_bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        tensors, ctx.options = inputs[:4], inputs[4:6]
        grads = output[1:]
        # Outputs, so that they may be saved; nobody's gradients.
        made = [grad for grad in grads if grad is not None]
        ctx.mark_non_differentiable(*made)
        ctx.set_materialize_grads(False)  # no zeros of their sizes
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(*tensors, *grads)

    @staticmethod
    def backward(ctx, grad_output, *_):
        if grad_output is None:
            return (None,) * 8
        input, weight, target, bias, *grads = ctx.saved_tensors
        needs = [ctx.needs_input_grad[i] for i in (0, 1, 3)]
        made = [grad is not None for grad in grads]
        if made == needs and not torch.is_grad_enabled():
            for i, grad in enumerate(grads):
                grads[i] = grad * grad_output if made[i] else None
        else:
            # Someone differentiates this backward, or forward ran in
            # torch.func: from the inputs, with all logits at once.
            wide = torch.promote_types(input.dtype, torch.float32)
            keep, label, n = labels(target, wide, *ctx.options)
            x, w = input.to(wide), weight.to(wide)
            b = None if bias is None else bias.to(wide)
            p = F.linear(x, w, b).softmax(1)
            one = torch.zeros_like(p).scatter(1, label, 1.0)
            share = keep * grad_output.to(wide) / n.clamp(min=1)
            g = (p - one) * share
            grads = [None, None, None]
            if needs[0]:
                grads[0] = (g @ w).to(input.dtype)
            if needs[1]:
                grads[1] = (g.T @ x).to(weight.dtype)
            if needs[2]:
                grads[2] = g.sum(0).to(bias.dtype)
        return *grads[:2], None, grads[2], None, None, None, None


# --8<-- [end:LinearCrossEntropy]
direct(LinearCrossEntropy)


# --8<-- [start:linear_cross_entropy]
def linear_cross_entropy(
    input: torch.Tensor,
    weight: torch.Tensor,
    target: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    chunk: int = 128,
) -> torch.Tensor:
    """Return ``cross_entropy(linear(input, weight, bias), target)``, in chunks of rows.

    Args:
        input: float tensor (..., D), flattened to rows.
        weight: (V, D), of the input's dtype; a row for each class.
        target: integer tensor (...) of labels from 0 to V - 1, or ignore_index.
        bias: (V,), of the input's dtype, or None.
        ignore_index: rows with this label have no part in the loss.
        reduction: "mean" over the rows that are not ignored, or "sum".
        chunk: how many rows of logits exist at a time, at least 1.

    Saves for backward:
        The gradients needed, in float32 4 bytes per element of input, weight and bias; and all
        arguments by reference. Composed, autograd keeps the N × V log-probabilities.

    Conventions:
        float16 and bfloat16 are computed in float32, but for the products. A mean over no target
        is NaN, as torch's is, its gradients 0. Under autocast the loss is float32. Where backward
        is differentiated, and in ``torch.func``, all logits are computed at once. No ``jvp``.

    Returns:
        The loss: 0-d, of the input's dtype.

    Raises:
        TypeError: if an argument is no tensor or number of its kind, or the dtypes differ.
        ValueError: if shapes, labels, the reduction or the chunk are out of range.

    Source:
        Wijmans et al., "Cut your losses in large-vocabulary language models", 2024, goes further.
    """
    name = "linear_cross_entropy"
    classes, size = check.layer(name, input, weight, bias)
    check.reduction(name, reduction, ("mean", "sum"))
    check.labels(name, target, input.shape[:-1], classes, ignore_index)
    check.count(name, "chunk", chunk)
    flat, where = input.reshape(target.numel(), size), target.reshape(-1).long()
    gradients = any(t is not None and t.requires_grad for t in (input, weight, bias))
    if not torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
        gradients = False
    arguments = flat, weight, where, bias, ignore_index, reduction, chunk, gradients
    loss: torch.Tensor = LinearCrossEntropy.apply(*arguments)[0]
    return loss


# --8<-- [end:linear_cross_entropy]
