"""Softmax cross-entropy that keeps the logits and one number a row, and makes its gradient in place.

Contract: the values and the gradients of ``torch.nn.functional.cross_entropy`` for class labels.

Formula, for a row of logits z with label y, its share s in the loss (1, or 1 / the number of targets;
0 where ignored) and the cotangent g::

    likelihood = z[y] - logsumexp(z)
    loss       = the sum of -s likelihood over the rows, or each row's own
    grad_input = g s softmax(z), and at y: g s (exp(likelihood) - 1)
"""

# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-incomplete-defs
# --8<-- [start:imports]
import torch

# --8<-- [end:imports]
from customgrad.functions import _checks as check
from customgrad.functions._direct import direct

__all__ = ["CrossEntropy", "cross_entropy"]


# --8<-- [start:CrossEntropy]
def log_likelihood(input, label, dim):
    """Return the log-probability of each label."""
    wide = torch.promote_types(input.dtype, torch.float32)
    if input.dtype == wide or dim == 0:
        return input.log_softmax(dim, dtype=wide).gather(dim, label)
    # Of halves, log_softmax would lose digits: float32, and some
    # rows at a time, since it copies them.
    pieces = [
        rows.log_softmax(dim, dtype=wide).gather(dim, y)
        for rows, y in zip(
            input.split(256), label.split(256), strict=True
        )
    ]  # fmt: skip
    return torch.cat(pieces)


def batched(cotangent):
    """Tell whether vmap is at work, where in place may not do."""
    if torch.compiler.is_compiling():
        return True  # compiled, both ways are one
    if torch._C._are_functorch_transforms_active():
        return True
    return torch._C._functorch.is_legacy_batchedtensor(cotangent)


class CrossEntropy(torch.autograd.Function):
    """Gives the loss, and the log-likelihood of each target."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, target, ignore_index=-100, reduction="mean"):
        if not input.is_floating_point():
            raise TypeError(
                "CrossEntropy: input must be a float tensor, "
                f"got {input.dtype}; use one such as torch.float32"
            )
        dim = min(input.ndim - 1, 1)
        keep = target != ignore_index
        label = torch.where(keep, target, 0).unsqueeze(dim)
        likelihood = log_likelihood(input, label, dim)
        loss = torch.where(keep, -likelihood.squeeze(dim), 0)
        if reduction != "none":
            loss = loss.sum()
        if reduction == "mean":
            loss = loss / keep.sum()
        if not torch.is_autocast_enabled(input.device.type):
            loss = loss.to(input.dtype)
        return loss, likelihood

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, target, ctx.ignore_index, ctx.reduction = inputs
        likelihood = output[1]
        # An output, so that it may be saved; nobody's gradient.
        ctx.mark_non_differentiable(likelihood)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(input, target, likelihood)

    @staticmethod
    def backward(ctx, grad_output, _):
        input, target, likelihood = ctx.saved_tensors
        dim = min(input.ndim - 1, 1)
        keep = target != ctx.ignore_index
        label = torch.where(keep, target, 0).unsqueeze(dim)
        share = keep * grad_output.to(likelihood.dtype)
        if ctx.reduction == "mean":
            share = share / keep.sum().clamp(min=1)
        share = share.unsqueeze(dim)
        rest = likelihood.expm1()  # digits that p - 1 would lose
        if torch.is_grad_enabled() or batched(grad_output):
            # Someone differentiates this backward, or vmaps it.
            p = input.to(share.dtype).softmax(dim)
            one = torch.zeros_like(p).scatter(dim, label, 1.0)
            grad_input = ((p - one) * share).to(input.dtype)
        elif input.dtype == share.dtype or dim == 0:
            p = input.softmax(dim, dtype=share.dtype)
            grad_input = p.scatter_(dim, label, rest).mul_(share)
            grad_input = grad_input.to(input.dtype)
        else:  # halves: in float32, some rows at a time
            grad_input = torch.empty_like(input)
            tensors = input, label, rest, share, grad_input
            pieces = [tensor.split(256) for tensor in tensors]
            for z, y, r, s, out in zip(*pieces, strict=True):
                p = z.softmax(1, dtype=s.dtype)
                out.copy_(p.scatter_(1, y, r).mul_(s))
        return grad_input, None, None, None


# --8<-- [end:CrossEntropy]
direct(CrossEntropy)


# --8<-- [start:cross_entropy]
def cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> torch.Tensor:
    """Return the cross-entropy of logits and labels, through ``CrossEntropy``.

    Args:
        input: float tensor of logits (N, C, ...) or (C,) (float16, bfloat16, float32 or float64)
            of any strides.
        target: integer tensor (N, ...) or () of labels from 0 to C - 1, or ignore_index.
        ignore_index: rows with this label have no part in the loss.
        reduction: "mean" over the rows that are not ignored, "sum", or "none".

    Saves for backward:
        The logits and the target, by reference, and one number a row, 4 bytes in float32.
        ``torch.nn.functional.cross_entropy`` keeps the log-probabilities instead, a tensor of the
        logits' size that is made anew.

    Conventions:
        A mean over no target is NaN, as torch's is, with gradients of 0. A row of logits that
        holds NaN or +infinity has the loss NaN and a gradient of NaN, ignored or not, as torch has
        it. Sums over rows are taken in float32 at least. Under autocast the loss is float32.
        Backward can itself be differentiated, by a formula of operations that have derivatives;
        it then takes more memory, as it does inside ``torch.func`` transforms. Forward mode does
        not work.

    Returns:
        The loss, 0-d, or of the target's shape with "none"; of the input's dtype.
        ``CrossEntropy.apply`` also returns the log-likelihoods.

    Raises:
        TypeError: if the input is no float tensor, the target no integer tensor, or ignore_index
            no integer.
        ValueError: if shapes do not fit, a label is out of range or the reduction is unknown.
    """
    name = "cross_entropy"
    check.floats(name, "input", input, meta=False)
    dim = min(input.ndim - 1, 1)
    if input.ndim == 0 or input.shape[dim] == 0:
        raise ValueError(
            f"{name}: input must have shape (N, C, ...) or (C,) with C > 0, got "
            f"{tuple(input.shape)}; one number for each class"
        )
    check.reduction(name, reduction, ("mean", "sum", "none"))
    rows = (*input.shape[:dim], *input.shape[dim + 1 :])
    check.labels(name, target, rows, input.shape[dim], ignore_index)
    loss: torch.Tensor = CrossEntropy.apply(input, target.long(), ignore_index, reduction)[0]
    return loss


# --8<-- [end:cross_entropy]
