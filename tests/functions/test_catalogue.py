"""What holds for every Function of the catalogue, on one table of operations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck

from customgrad import functions
from sitetools import catalogue
from sitetools.operation import Operation
from sitetools.pages import ROOT

OPERATIONS = catalogue.OPERATIONS
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0), (2, 3, 4)]
LAYOUTS = ["contiguous", "transposed", "sliced", "offset", "expanded"]
SPECIAL = [-torch.inf, -100.0, -1.0, -1e-30, -0.0, 0.0, 1e-30, 1.0, 100.0, torch.inf, torch.nan]
PRECISE = {"rtol": 1e-6, "atol": 1e-8}

every = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.label)
elementwise = pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.elementwise], ids=lambda o: o.label
)
modern = pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if "vmap" not in o.lacks], ids=lambda o: o.label
)


def test_every_function_of_the_package_is_in_the_table():
    public = {getattr(functions, name) for name in functions.__all__}
    of_torch = {p for p in public if isinstance(p, type) and issubclass(p, torch.autograd.Function)}
    assert {f for o in OPERATIONS for f in (o.function, o.forward_mode) if f} == of_torch
    assert {o.wrapper for o in OPERATIONS} <= public


def test_a_label_names_one_operation():
    assert len({o.label for o in OPERATIONS}) == len(OPERATIONS)


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
        values = [catalogue.floats(f(*inputs)) for f in (operation.call, operation.reference)]
        assert catalogue.agree(*values, 1e-12)
        found = catalogue.gradients(operation.call, inputs)
        expected = catalogue.gradients(operation.reference, inputs)
        assert catalogue.agree(found, expected, 1e-12)


@every
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_gives_its_own(operation, dtype):
    """Within a few units in the last place of what float64 computes."""
    inputs = operation.sample(dtype)
    exact = tuple(x.detach().double().requires_grad_() for x in inputs)
    outputs, expected = (
        catalogue.floats(operation.call(*inputs)),
        catalogue.floats(operation.reference(*exact)),
    )
    assert all(y.dtype == dtype for y in outputs)
    ones = [[torch.ones_like(y) for y in ys] for ys in (outputs, expected)]
    grads = torch.autograd.grad(outputs, inputs, ones[0])
    assert all(g.dtype == dtype and g.shape == x.shape for g, x in zip(grads, inputs, strict=True))
    expected_grads = torch.autograd.grad(expected, exact, ones[1])
    eps = torch.finfo(dtype).eps
    for got, want in zip((*outputs, *grads), (*expected, *expected_grads), strict=True):
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
    results = []
    for call in (operation.call, operation.reference):
        outputs = catalogue.floats(call(*inputs))
        ones = [torch.ones((), dtype=y.dtype).expand(y.shape) for y in outputs]
        results.append(torch.autograd.grad(outputs, inputs, ones))
    assert catalogue.agree(*results, 1e-12)


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
    assert catalogue.agree(*results, tolerance=operation.tolerance)


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
    assert everything[1] == operation.computed, "tensors kept that are not inputs"
    for n in range(count):
        alone = saved({n})
        assert len(alone[0]) <= len(everything[0])
        assert alone[1] <= everything[1]


@every
def test_tensors_are_kept_where_hooks_and_version_counters_see_them(operation):
    """That is by save_for_backward: one set on ctx leaks, and a second derivative misses it."""
    nodes = {y.grad_fn for y in catalogue.floats(operation.call(*operation.sample()))}
    custom = [n for n in nodes if isinstance(n, torch.autograd.function.BackwardCFunction)]
    assert custom or operation.through
    kept = [v for node in custom for v in vars(node).values()]
    assert not [v for v in kept if isinstance(v, torch.Tensor)]


@every
def test_what_it_is_compared_with_is_torchs_own(operation):
    """No node of the reference's graph, nor of the builtin's, is a custom Function."""
    for call in (operation.reference, operation.builtin):
        waiting = [y.grad_fn for y in catalogue.floats(call(*operation.sample()))] if call else []
        while waiting:
            node = waiting.pop()
            assert not isinstance(node, torch.autograd.function.BackwardCFunction)
            waiting += [n for n, _ in node.next_functions if n is not None]


@every
def test_inputs_and_cotangents_are_left_alone(operation):
    inputs = operation.sample()
    before = [x.detach().clone() for x in inputs]
    outputs = catalogue.floats(operation.call(*inputs))
    cotangents = [torch.full_like(y, 2.0) for y in outputs]
    torch.autograd.grad(outputs, inputs, cotangents)
    assert all(torch.equal(x, b) for x, b in zip(inputs, before, strict=True))
    assert all((c == 2.0).all() for c in cotangents)


@every
def test_backward_twice_on_one_graph(operation):
    inputs = operation.sample()
    total = catalogue.total(operation.call(*inputs))
    first = torch.autograd.grad(total, inputs, retain_graph=True)
    assert catalogue.agree(first, torch.autograd.grad(total, inputs), 0.0)


@every
@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64], ids=str)
def test_other_dtypes_are_refused(operation, dtype):
    inputs = [x.detach().to(dtype) for x in operation.sample()]
    wanted = (
        rf"{operation.first} must be a float tensor, got {dtype}; use one such as torch\.float32$"
    )
    with pytest.raises(TypeError, match=rf"^\w+: {wanted}"):
        operation.call(*inputs)
    with pytest.raises(TypeError, match=rf"^{operation.function.__name__}: {wanted}"):
        operation.direct(*inputs)


@every
def test_the_wrapper_refuses_what_is_no_tensor(operation):
    rest = operation.sample()[1:]
    with pytest.raises(
        TypeError,
        match=rf"^{operation.name}: {operation.first} must be a .*tensor,.* got (list|float); ",
    ):
        operation.call([1.0], *rest)


@every
def test_a_copied_section_runs_with_torch_alone(operation, run_sections):
    name = operation.function.__name__
    copied, code = run_sections(operation.source, "imports", name)
    assert max(map(len, code.splitlines())) <= 72
    assert f"class {name}(torch.autograd.Function):" in code
    inputs = operation.sample()

    def call(*inputs):
        return operation.direct(*inputs, function=copied[name])

    found = catalogue.gradients(call, inputs)
    assert catalogue.agree(found, catalogue.gradients(operation.call, inputs), 0.0)


@every
def test_the_docstring_has_its_parts(operation):
    parts = ["Args:", "Saves for backward:", "Conventions:", "Returns:", "Raises:"]
    found = [line.strip() for line in operation.wrapper.__doc__.splitlines()]
    assert [line for line in found if line in parts] == parts


@every
def test_a_file_is_short_enough_to_read(operation):
    lines = (ROOT / operation.source).read_text(encoding="utf-8").splitlines()
    assert 60 <= len(lines) <= 200


# What is tried for the table "what works with what", and what must come out.


COLUMNS = ["double backward", "vmap", "compile", "autocast", "checkpoint"]


@pytest.mark.parametrize(
    ("operation", "column"),
    [(o, c) for o in OPERATIONS for c in COLUMNS if c not in o.lacks],
    ids=lambda v: getattr(v, "label", v),
)
def test_works_with(operation, column, answers):
    with catalogue.quiet():  # torch warns of its own doings while it compiles
        assert catalogue.PROBES[column](operation)
    answers[column, operation.label] = "yes"


@pytest.mark.parametrize(
    ("operation", "column"), [(o, c) for o in OPERATIONS for c in o.lacks], ids=lambda v: getattr(v, "label", v)
)  # fmt: skip
def test_what_is_lacking_is_refused(operation, column, answers):
    """Never a wrong number, and the reason ends as a sentence on its page does."""
    assert catalogue.works(catalogue.PROBES[column], operation) == "refused"
    answers[column, operation.label] = "refused"
    assert operation.lacks[column].endswith(".")


# Forward mode is a subclass of its own: a Function that has a jvp cannot be compiled with fullgraph=True.


def forward(test):
    # torch's own forward mode scripts its decompositions, and warns of itself.
    test = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")(test)
    having = [o for o in OPERATIONS if o.forward_mode]
    return pytest.mark.parametrize("operation", having, ids=lambda o: o.label)(test)


@forward
def test_forward_mode(operation):
    def call(*inputs):
        return operation.direct(*inputs, function=operation.forward_mode)

    assert issubclass(operation.forward_mode, operation.function)
    assert operation.forward_mode.__name__ == f"{operation.function.__name__}ForwardMode"
    inputs = operation.sample()
    assert catalogue.forward_mode(call, operation)
    assert catalogue.agree(
        catalogue.gradients(call, inputs), catalogue.gradients(operation.call, inputs), 0.0
    )
    if operation.derivative:
        assert gradcheck(call, inputs, check_forward_ad=True, **PRECISE)
        assert gradgradcheck(call, inputs, check_fwd_over_rev=True, **PRECISE)


NESTED = (
    r"^\w+: forward mode must not be nested, got jacfwd inside jacfwd, which torch makes 0; "
    r"use jacfwd\(jacrev\(f\)\) or jacrev\(jacfwd\(f\)\)$"
)


@forward
def test_hessians_by_each_pair_of_modes(operation):
    """Nested jacfwd of a custom jvp gives 0 in torch 2.13 (pytorch#197867), and is refused here."""
    inputs = tuple(x.detach() for x in operation.sample())
    jacfwd, jacrev = torch.func.jacfwd, torch.func.jacrev

    def of(outer, inner, call):
        return outer(inner(lambda x: catalogue.total(call(x, *inputs[1:]))))(inputs[0])

    def call(*inputs):
        return operation.direct(*inputs, function=operation.forward_mode)

    expected = of(jacrev, jacrev, operation.reference)
    for outer, inner in [(jacfwd, jacrev), (jacrev, jacfwd), (jacrev, jacrev)]:
        assert torch.allclose(of(outer, inner, call), expected, atol=1e-12), (outer, inner)
    with pytest.raises(RuntimeError, match=NESTED):
        of(jacfwd, jacfwd, call)


# The probes can say no: each column on a square that is wrong in this respect alone.


class Square(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output


class OnContext(Square):
    """Right to first order only."""

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.x = inputs[0].detach()

    @staticmethod
    def backward(ctx, grad_output):
        return 2 * ctx.x * grad_output


class NearlyRight(Square):
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2.000001 * x * grad_output


class ConstantSlope(Square):
    """Right for a cotangent of ones on average, and wrong for each element."""

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output.mean()


class WrongTangent(Square):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return x * tangent


class WrongBatch(Square):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x):
        return 2 * x * x, 0


class Printing(Square):
    @staticmethod
    def forward(x):
        torch._dynamo.graph_break()
        return x * x


class Halved(Square):
    """Computes in a dtype that autocast would not choose for it."""

    @staticmethod
    def forward(x):
        return (x * x).to(torch.bfloat16 if x.dtype == torch.float32 else x.dtype)


class NoConjugate(Square):
    """What a complex gradient looks like where its author forgot the conjugate."""


@pytest.mark.parametrize(
    ("column", "function", "said"),
    [
        ("double backward", Square, "yes"),
        ("double backward", OnContext, "wrong"),
        ("double backward", NearlyRight, "wrong"),
        ("double backward", ConstantSlope, "wrong"),
        ("jvp", Square, "refused"),
        ("jvp", WrongTangent, "wrong"),
        ("vmap", Square, "yes"),
        ("vmap", WrongBatch, "wrong"),
        ("vmap", NearlyRight, "wrong"),
        ("compile", Square, "yes"),
        ("compile", Printing, "refused"),
        ("compile", NearlyRight, "wrong"),
        ("autocast", Square, "yes"),
        ("autocast", Halved, "wrong"),
        ("checkpoint", Square, "yes"),
        ("checkpoint", NearlyRight, "wrong"),
        ("complex", NoConjugate, "wrong"),
    ],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_the_probes_can_say_no(column, function, said):
    def square(x):
        return function.apply(x)

    def reference(x):
        return x * x

    operation = Operation("", function, square, reference)
    assert catalogue.works(catalogue.PROBES[column], operation) == said


def test_checkpoint_is_what_that_probe_calls(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("called")

    monkeypatch.setattr(catalogue, "checkpoint", refuse)
    assert catalogue.works(catalogue.checkpointed, OPERATIONS[0]) == "refused"


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.bench.cases or o.bench.composed], ids=lambda o: o.label
)
def test_what_it_is_measured_beside_computes_the_same(operation):
    composed = {"composed": operation.bench.composed} if operation.bench.composed else {}
    for case, call in {**operation.bench.cases, **composed}.items():
        inputs = operation.sample()
        found = catalogue.gradients(call, inputs)
        expected = catalogue.gradients(operation.reference, inputs)
        assert catalogue.agree(found, expected), case


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.bench.beside_inputs], ids=lambda o: o.label
)
def test_the_larger_thing_that_is_measured_is_the_same_for_each_case(operation):
    make = next(iter(operation.bench.sizes.values()))
    inputs = tuple(x.double().requires_grad_() for x in make())
    found, expected = (
        catalogue.gradients(operation.bench.within(call), inputs)
        for call in (operation.call, operation.reference)
    )
    for got, want in zip(found, expected, strict=True):
        assert (got - want).abs().max() <= 1e-8 * want.abs().max()
