"""The rules on torch.func, vmap, forward mode, batched gradients, torch.compile and meta tensors."""

import contextlib
import io
import re
import warnings

import pytest
import torch

from customgrad.checker import check


class Double(torch.autograd.Function):
    """Correct; the others change one thing of it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input, other):
        return input * other

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        return grad_output * other, grad_output * input


def inputs():
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(3, 4, generator=generator, dtype=torch.float64, requires_grad=True)
        for _ in range(2)
    )


def one():
    return inputs()[:1]


def only(function, code, make=inputs, **options):
    report = check(function, make, select=code, **options)
    assert [f.code for f in report.findings] == [code], report.text(quiet=True, not_run=True)
    return report.findings[0]


def nothing(function, code, make=inputs, **options):
    report = check(function, make, select=code, **options)
    assert not report.findings, report.text(quiet=True)
    return report


def printed(finding, **space):
    """Run the reproduction with the classes of this module, and return what it prints."""
    text = re.sub(r"^from (?!torch)\S+ import \w+$", "", finding.reproduction, flags=re.MULTILINE)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dynamo makes an instance of the Function, which warns
        exec(compile(text, "reproduction", "exec"), {**globals(), **space})
    return out.getvalue()


class LastOnly(Double):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, input, other):
        return LastOnly.apply(input, other), in_dims[0]


class MapsRight(Double):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, *inputs):
        moved = [
            x.expand(info.batch_size, *x.shape) if d is None else x.movedim(d, 0)
            for x, d in zip(inputs, in_dims, strict=True)
        ]
        return MapsRight.apply(*moved), 0


class MapsDetached(MapsRight):
    @staticmethod
    def vmap(info, in_dims, *inputs):
        values, dim = MapsRight.vmap(info, in_dims, *inputs)
        return values.detach(), dim


class Refuses(MapsRight):
    @staticmethod
    def vmap(info, in_dims, *inputs):
        if None in in_dims:
            raise ValueError("Refuses: every input must be mapped")
        return MapsRight.vmap(info, in_dims, *inputs)


def test_a_vmap_rule_that_forgets_an_input_without_batch():
    finding = only(LastOnly, "CG951")
    assert finding.severity == "bug"
    assert "in_dims=" in finding.message
    assert "vmap" in finding.cause
    assert "movedim" in finding.fix


def test_a_vmap_rule_that_loses_the_gradient():
    finding = only(MapsDetached, "CG951")
    assert "the gradient of torch.vmap" in finding.message
    assert finding.got == "0"


def test_a_right_vmap_rule_and_a_generated_one():
    nothing(MapsRight, "CG951")
    nothing(Double, "CG951")


def test_a_deliberate_refusal_is_missing():
    finding = only(Refuses, "CG951")
    assert finding.severity == "missing"
    assert "every input must be mapped" in finding.got


class Repeats(Double):
    """Its second output does not depend on the second input."""

    @staticmethod
    def forward(input, other):
        return input * other, 2 * input

    @staticmethod
    def backward(ctx, grad_output, grad_twice):
        input, other = ctx.saved_tensors
        return grad_output * other + 2 * grad_twice, grad_output * input


def test_what_torch_counts_too_often_is_torchs_fault():
    finding = only(Repeats, "CG951")
    assert finding.severity == "upstream"
    assert "once for each example" in finding.cause
    x, n = torch.tensor(3.0, requires_grad=True), 4
    twice = torch.vmap(Repeats.apply, (None, 0))(x, torch.ones(n))[1]
    # If this is 2 * n one day, torch has mended it, and the exception can go.
    assert torch.autograd.grad(twice.sum(), x)[0].item() == 2 * n * n


class Combined(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.exp()

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * input.exp()


class NoRule(Double):
    generate_vmap_rule = False


@pytest.mark.parametrize(
    ("function", "make", "cause"),
    [(Combined, one, "combined style"), (NoRule, inputs, "generate_vmap_rule")],
)
def test_what_torch_refuses_is_missing_and_quiet(function, make, cause):
    finding = only(function, "CG952", make)
    assert finding.severity == "missing"
    assert cause in finding.cause
    call = {1: lambda x: function.apply(x), 2: lambda x: function.apply(x, x)}[len(make())]
    with pytest.raises(RuntimeError, match=r"setup_context|vmap support"):
        torch.vmap(call)(torch.ones(3, 2))
    nothing(Double, "CG952")


class Aware(Double):
    """Another function where its inputs are those of torch.func."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.factor = 2.0 if torch._C._functorch.is_gradtrackingtensor(inputs[0]) else 1.0

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        return ctx.factor * grad_output * other, grad_output * input


def test_torch_func_beside_autograd():
    finding = only(Aware, "CG953")
    assert (finding.severity, "of input" in finding.message) == ("bug", True)
    assert "torch.func" in printed(finding)
    nothing(Double, "CG953")


class NumPyBackward(Double):
    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        return (
            torch.from_numpy(grad_output.numpy() * other.detach().numpy()),
            torch.from_numpy(grad_output.numpy() * input.detach().numpy()),
        )


def test_numpy_in_backward_is_refused_and_named():
    finding = only(NumPyBackward, "CG957")
    assert finding.severity == "missing"
    assert "numpy" in finding.cause
    nothing(Double, "CG957")


class Batched(Double):
    """Another gradient where the cotangents are batched."""

    @staticmethod
    def backward(ctx, grad_output):
        input, other = ctx.saved_tensors
        size = 1.0 if torch._C._functorch.is_legacy_batchedtensor(grad_output) else 2.0
        return size * grad_output * other, grad_output * input


def test_batched_gradients_beside_a_loop():
    finding = only(Batched, "CG957")
    assert (finding.severity, "of input" in finding.message) == ("bug", True)
    assert "batched:" in printed(finding)


class Forward(Double):
    @staticmethod
    def jvp(ctx, first, second):
        input, other = ctx.saved_tensors
        return first * other + input * second


class NoneRaises(Forward):
    @staticmethod
    def setup_context(ctx, inputs, output):
        Double.setup_context(ctx, inputs, output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, grad_output):
        if grad_output is None:
            return None, None
        return Double.backward(ctx, grad_output)


class WrongSign(Forward):
    @staticmethod
    def jvp(ctx, first, second):
        input, other = ctx.saved_tensors
        return first * other - input * second


def test_jvp_beside_differences():
    finding = only(WrongSign, "CG954")
    assert "tangent on other is wrong" in finding.message
    assert re.search(r"jvp.*return first", finding.cause)
    assert "difference:" in printed(finding)
    nothing(Forward, "CG954")


def test_jvp_without_one_tangent():
    finding = only(NoneRaises, "CG954")
    assert "None" in finding.got
    assert "the tangent of other is None" in finding.cause
    with pytest.raises(TypeError, match="NoneType"):
        printed(finding)


def test_no_jvp_is_missing():
    assert only(Double, "CG955").severity == "missing"
    nothing(Forward, "CG955")


def test_nested_jacobians():
    nothing(Double, "CG956")
    finding = only(Forward, "CG956")
    assert finding.severity == "upstream"
    assert "pytorch#197867" in finding.message


class DetachedJvp(Forward):
    @staticmethod
    def jvp(ctx, first, second):
        input, other = (t.detach() for t in ctx.saved_tensors)
        return first * other + input * second


def test_a_jvp_that_cannot_be_differentiated():
    finding = only(DetachedJvp, "CG956")
    assert finding.severity == "bug"
    assert "jacrev(torch.func.jacfwd(f))" in finding.message


class Straight(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(input):
        return input.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class Unseen(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input.data

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return 3 * grad_output


class Sized(torch.autograd.Function):
    @staticmethod
    def forward(input):
        return input * float(input.max())

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


def test_compile_beside_eager():
    nothing(Double, "CG961")
    finding = only(Unseen, "CG961", one, surrogate=True)
    assert (finding.severity, "input.data" in finding.cause) == ("bug", True)
    assert only(Forward, "CG961").severity == "upstream"
    refused = only(Sized, "CG961", one, surrogate=True)
    assert (refused.severity, "float(input.max())" in refused.cause) == ("missing", True)


def test_compile_of_grad_drops_a_surrogate():
    finding = only(Straight, "CG962", one, surrogate=True)
    assert (finding.severity, finding.got) == ("upstream", "0")
    assert "193279" in finding.cause
    text = printed(finding)
    assert "0., 0., 0." in text.split("compiled:")[1]
    assert nothing(Double, "CG962").not_run


def test_the_compiler_leaves_logging_as_it_was():
    import logging

    before = logging.root.manager.disable
    check(Forward, inputs, select="CG961")
    assert logging.root.manager.disable == before


class Fixed(torch.autograd.Function):
    """Gives meta tensors another shape."""

    @staticmethod
    def forward(input):
        return input.new_empty(2) if input.is_meta else input * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * grad_output


def test_meta_tensors():
    finding = only(Fixed, "CG963", one)
    assert (finding.severity, finding.got) == ("hazard", "(2,), torch.float64")
    refused = only(Sized, "CG963", one, surrogate=True)
    assert (refused.severity, "float(input.max())" in refused.cause) == ("missing", True)
    nothing(Double, "CG963")


def test_an_absent_device_is_not_run():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    report = nothing(Double, "CG964")
    assert [n.reason for n in report.not_run] == ["no CUDA device here"]
