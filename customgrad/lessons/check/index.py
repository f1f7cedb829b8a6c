"""`customgrad check`: from Python, in a test, on the command line, and what its options do."""

# --8<-- [start:my_op]
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        steady = grad_output.clamp(-1, 1)
        return 2 * x * steady


def sample_inputs():
    x = torch.tensor([0.5, -1.25, 2.0])
    return (x.double().requires_grad_(),)


# --8<-- [end:my_op]


# --8<-- [start:clipped]
from customgrad.lessons.check.index import Square, sample_inputs


class Clipped(Square):  # customgrad: ignore[CG202]
    """A square whose backward clips on purpose."""


# --8<-- [end:clipped]


def passes():
    # --8<-- [start:passes]
    import torch
    from customgrad.lessons.check.index import Square, sample_inputs

    print(torch.autograd.gradcheck(Square.apply, sample_inputs()))
    # --8<-- [end:passes]


def found():
    # --8<-- [start:found]
    import customgrad
    from customgrad.lessons.check.index import Square, sample_inputs

    report = customgrad.check(Square, sample_inputs)
    print(report)
    # --8<-- [end:found]


def script():
    # --8<-- [start:script]
    import customgrad
    from customgrad.lessons.check.index import Square, sample_inputs

    report = customgrad.check(Square, sample_inputs, select="CG202")
    print(report.failures[0].reproduction)
    # --8<-- [end:script]


def tested():
    # --8<-- [start:tested]
    from customgrad.checker import CheckFailed, assert_ok
    from customgrad.lessons.check.index import Square, sample_inputs

    def test_square():
        assert_ok(Square, sample_inputs, fast=True)

    try:
        test_square()
    except CheckFailed as error:
        print([finding.code for finding in error.report.failures])
    # --8<-- [end:tested]


def surrogate():
    # --8<-- [start:surrogate]
    import torch
    import customgrad
    from customgrad.functions import RoundSTE

    x = torch.tensor([0.25, -1.25, 2.75], dtype=torch.float64)
    options = {"select": "CG2"}
    report = customgrad.check(RoundSTE, (x,), **options)
    print([f.code for f in report.failures])
    options["surrogate"] = True
    report = customgrad.check(RoundSTE, (x,), **options)
    print([f.code for f in report.failures])
    for rule in report.not_run:
        if "surrogate" in rule.reason:
            print(rule.code, "not run:", rule.reason)
    # --8<-- [end:surrogate]


def silenced():
    # --8<-- [start:silenced]
    import customgrad
    from customgrad.lessons.check.index import Clipped, sample_inputs

    options = {"select": "CG1,CG202"}
    report = customgrad.check(Clipped, sample_inputs, **options)
    print([f.code for f in report.failures])
    options["ignore"] = "CG202"
    report = customgrad.check(Clipped, sample_inputs, **options)
    print([f.code for f in report.failures])
    # --8<-- [end:silenced]


def main():
    passes()
    found()
    script()
    tested()
    silenced()
    surrogate()


if __name__ == "__main__":
    main()
