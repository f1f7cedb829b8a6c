"""Forward mode: tangents in, tangents out."""

from collections.abc import Sequence

import torch
import torch.autograd.forward_ad as forward_ad

from customgrad.checker.exam import Exam
from customgrad.checker.samples import Sample, flat

__all__ = ["has_jvp", "pushed", "tangents"]


def has_jvp(exam: Exam) -> bool:
    """Whether the Function defines a jvp."""
    function = exam.subject.function
    return function is not None and function.jvp is not torch.autograd.Function.jvp


def tangents(sample: Sample, chosen: Sequence[int]) -> list[torch.Tensor | None]:
    """Return a tangent for each input that needs a gradient; None for those not chosen."""
    generator = torch.Generator().manual_seed(11)
    made: list[torch.Tensor | None] = []
    for k, t in enumerate(sample.tensors):
        wide = torch.complex128 if t.is_complex() else torch.float64
        drawn = torch.randn(t.shape, generator=generator, dtype=wide).to(t.dtype)
        made.append(drawn if k in chosen else None)
    return made


def pushed(
    exam: Exam, sample: Sample, along: Sequence[torch.Tensor | None]
) -> list[torch.Tensor | None]:
    """Return the tangents of the outputs."""
    with forward_ad.dual_level():
        args, _ = sample.fresh(())
        for i, tangent in zip(sample.wanted, along, strict=True):
            if tangent is not None:
                args[i] = forward_ad.make_dual(args[i], tangent)
            if exam.in_place:
                args[i] = args[i].clone()
        result = exam.subject.call(*args)
        found = [forward_ad.unpack_dual(t).tangent for t in flat(result)]
        return [None if t is None else t.detach().clone() for t in found]
