"""What holds for every Function of the catalogue, on one table of operations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from customgrad import functions
from sitetools import catalogue
from sitetools.pages import ROOT

OPERATIONS = catalogue.OPERATIONS
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0), (2, 3, 4)]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
SPECIAL = [-torch.inf, -100.0, -1.0, -1e-30, -0.0, 0.0, 1e-30, 1.0, 100.0, torch.inf, torch.nan]
PRECISE = {"rtol": 1e-6, "atol": 1e-8}

every = pytest.mark.parametrize(
    "operation", OPERATIONS, ids=lambda o: f"{o.name} {o.variant}".strip()
)
elementwise = pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.elementwise], ids=lambda o: o.name
)
modern = pytest.mark.parametrize(
    "operation",
    [o for o in OPERATIONS if o.function.generate_vmap_rule],
    ids=lambda o: f"{o.name} {o.variant}".strip(),
)


def test_every_function_of_the_package_is_in_the_table():
    public = {getattr(functions, name) for name in functions.__all__}
    of_torch = {p for p in public if isinstance(p, type) and issubclass(p, torch.autograd.Function)}
    assert {o.function for o in OPERATIONS} == of_torch
    assert {o.call for o in OPERATIONS} <= public


@every
def test_gradcheck_and_gradgradcheck(operation):
    """In slow mode and with a tight tolerance: the fast mode misses most single wrong elements."""
    inputs = operation.sample()
    assert (
        gradcheck(operation.call, inputs, raise_exception=False, **PRECISE) is operation.derivative
    )
    assert gradgradcheck(operation.call, inputs, **PRECISE)


@modern
def test_gradcheck_of_batched_gradients(operation):
    inputs = operation.sample()
    call = operation.call
    if not operation.derivative:  # then of its backward, which is linear in the cotangent
        assert gradgradcheck(call, inputs, check_batched_grad=True, **PRECISE)
        return
    assert gradcheck(call, inputs, check_batched_grad=True, **PRECISE)


@every
def test_gradients_are_those_of_the_reference(operation):
    for seed in range(5):
        inputs = operation.sample(seed=seed)
        assert torch.allclose(operation.call(*inputs), operation.reference(*inputs), rtol=1e-12)
        found = catalogue.gradients(operation.call, inputs)
        expected = catalogue.gradients(operation.reference, inputs)
        assert catalogue.agree(found, expected, 1e-12)


@every
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_gives_its_own(operation, dtype):
    """Within a few units in the last place of what float64 computes."""
    inputs = operation.sample(dtype)
    exact = tuple(x.detach().double().requires_grad_() for x in inputs)
    output = operation.call(*inputs)
    assert output.dtype == dtype
    grads = torch.autograd.grad(output.sum(), inputs)
    assert all(g.dtype == dtype and g.shape == x.shape for g, x in zip(grads, inputs, strict=True))
    expected = operation.reference(*exact)
    expected_grads = torch.autograd.grad(expected.sum(), exact)
    eps = torch.finfo(dtype).eps
    for got, want in zip((output, *grads), (expected, *expected_grads), strict=True):
        far = (got.double() - want).abs().max()
        assert far <= 4 * eps * max(1.0, want.abs().max().item()), (got, want)


@elementwise
@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from(SHAPES), layout=st.sampled_from(LAYOUTS), g_layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_any_shape_and_any_strides(operation, lay_out, shape, layout, g_layout, seed):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    cotangent = lay_out(torch.randn(shape, generator=generator, dtype=torch.float64), g_layout)
    results = []
    for call in (operation.call, operation.reference):
        x = lay_out(values, layout).detach().requires_grad_()
        output = call(x)
        assert output.shape == x.shape
        results.append((output, *torch.autograd.grad(output, x, cotangent)))
    assert catalogue.agree(*results, tolerance=1e-12)


@every
def test_a_cotangent_of_stride_0(operation):
    """`output.sum().backward()` sends one number, expanded."""
    inputs = operation.sample()
    output = operation.call(*inputs)
    one = torch.ones((), dtype=output.dtype).expand(output.shape)
    found = torch.autograd.grad(output, inputs, one)
    expected = torch.autograd.grad(operation.reference(*inputs).sum(), inputs)
    assert catalogue.agree(found, expected, 1e-12)


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.elementwise and o.builtin], ids=lambda o: o.name
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_special_values_as_torch_has_them(operation, dtype):
    """The builtin of the same name, NaN for NaN."""
    results = []
    for call in (operation.call, operation.builtin):
        x = torch.tensor(SPECIAL, dtype=dtype, requires_grad=True)
        output = call(x)
        results.append((output, *torch.autograd.grad(output, x, torch.ones_like(x))))
    assert catalogue.agree(*results, tolerance=0.0)


@every
def test_nothing_is_saved_for_what_needs_no_gradient(operation):
    """With all inputs needing gradients no more is kept than with fewer."""

    def saved(wanted):
        leaves = tuple(
            x.detach().requires_grad_(n in wanted) for n, x in enumerate(operation.sample())
        )
        kept = {}
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: kept.setdefault(t.untyped_storage().data_ptr(), t), lambda t: t
        ):
            operation.call(*leaves)
        own = {x.untyped_storage().data_ptr() for x in leaves}
        return set(kept) & own, len(set(kept) - own)

    count = len(operation.sample())
    assert saved(set()) == (set(), 0)
    everything = saved(set(range(count)))
    assert everything[1] == 0, "these keep inputs, and nothing that forward computed"
    for n in range(count):
        alone = saved({n})
        assert len(alone[0]) <= len(everything[0])
        assert alone[1] <= everything[1]


@every
def test_inputs_and_cotangents_are_left_alone(operation):
    inputs = operation.sample()
    before = [x.detach().clone() for x in inputs]
    output = operation.call(*inputs)
    cotangent = torch.full_like(output, 2.0)
    torch.autograd.grad(output, inputs, cotangent)
    assert all(torch.equal(x, b) for x, b in zip(inputs, before, strict=True))
    assert (cotangent == 2.0).all()


@every
def test_backward_twice_on_one_graph(operation):
    inputs = operation.sample()
    total = operation.call(*inputs).sum()
    first = torch.autograd.grad(total, inputs, retain_graph=True)
    assert catalogue.agree(first, torch.autograd.grad(total, inputs), 0.0)


@every
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64], ids=str)
def test_other_dtypes_are_refused(operation, dtype):
    inputs = [x.detach().to(dtype) for x in operation.sample()]
    wanted = rf"input must be a float tensor, got {dtype}; use one such as torch\.float32$"
    with pytest.raises(TypeError, match=rf"^\w+: {wanted}"):
        operation.call(*inputs)
    with pytest.raises(TypeError, match=rf"^{operation.function.__name__}: {wanted}"):
        operation.function.apply(*inputs)


@every
def test_the_wrapper_refuses_what_is_no_tensor(operation):
    rest = operation.sample()[1:]
    with pytest.raises(
        TypeError, match=rf"^{operation.name}: input must be a .*tensor, got list; "
    ):
        operation.call([1.0], *rest)


@every
def test_a_copied_section_runs_with_torch_alone(operation, run_sections):
    path = f"customgrad/functions/{operation.page}.py"
    name = operation.function.__name__
    copied, code = run_sections(path, "imports", name)
    assert max(map(len, code.splitlines())) <= 72
    assert f"class {name}(torch.autograd.Function):" in code
    inputs = operation.sample()
    found = catalogue.gradients(copied[name].apply, inputs)
    assert catalogue.agree(found, catalogue.gradients(operation.call, inputs), 0.0)


@every
def test_the_docstring_has_its_parts(operation):
    parts = ["Args:", "Saves for backward:", "Conventions:", "Returns:", "Raises:"]
    found = [line.strip() for line in operation.call.__doc__.splitlines()]
    assert [line for line in found if line in parts] == parts


@every
def test_a_file_is_short_enough_to_read(operation):
    lines = (ROOT / "customgrad" / "functions" / f"{operation.page}.py").read_text().splitlines()
    assert 60 <= len(lines) <= 200


# What is tried for the table "what works with what", and what must come out.


@modern
@pytest.mark.parametrize("column", ["double backward", "vmap", "compile", "autocast", "checkpoint"])
def test_works_with(operation, column):
    with catalogue.quiet():  # torch warns of its own doings while it compiles
        assert catalogue.PROBES[column](operation)


class Wrong(torch.autograd.Function):
    """x², with a gradient that is right to first order only, and under nothing else."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.x = inputs[0].detach()
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * ctx.x * grad_output


def test_the_probes_can_say_no():
    wrong = catalogue.Operation("wrong", "wrong", Wrong, Wrong.apply, lambda x: x * x)
    assert catalogue.works(catalogue.PROBES["double backward"], wrong) == "wrong"
    assert catalogue.works(catalogue.PROBES["jvp"], wrong) == "refused"
    linear = next(o for o in OPERATIONS if o.name == "linear")
    direct = catalogue.Operation(
        "direct", "", linear.function, linear.function.apply, linear.reference, linear.inputs
    )
    assert catalogue.works(catalogue.PROBES["autocast"], direct) != "yes"
