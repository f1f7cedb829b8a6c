"""What is said of an answer is true of it: a mutant that stops elsewhere does not speak for it."""

from customgrad.exercises import grade

HALF = """
import torch


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g * 0.5
"""


def test_mutant_stops_at_the_same_check():
    """Another mutant halves grad_output in place: its gradients are the same."""
    verdict = grade("rounding", HALF)
    assert verdict.check == "the gradient"
    assert "0.5" in verdict.diagnosis
    assert "writes into" not in verdict.diagnosis


def test_no_reason_of_a_value_for_an_error():
    """The check's own reason is about values."""
    source = HALF.replace("return x.round()", "raise KeyError('mine')")
    verdict = grade("rounding", source)
    assert verdict.check == "the values"
    assert "nearest whole number" not in verdict.message
