"""CG403: state of the class or the module that grows from call to call."""

from collections.abc import Iterator

from customgrad.checker import holders
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding
from customgrad.checker.rule import Rule

GROWING = Rule(
    code="CG403",
    name="growing-state",
    severity="hazard",
    summary="Each call leaves tensors behind, on the class or the module: memory grows without end.",
    explanation="""\
What forward appends to a list of the class or the module, nothing removes. Keep what belongs to a
call on its own ctx, by save_for_backward: it is freed with the graph.
""",
)


@GROWING.finder
def growing(exam: Exam) -> Iterator[Finding]:
    """Yield a container that holds more tensors after each call."""
    found = holders.growing(exam)
    if found is None:
        return
    name, counts, line = found
    yield exam.finding(
        GROWING,
        f"memory grows with every call: {name} keeps the tensors of each, a leak",
        did=f"{exam.subject.called} and backward {holders.CALLS} times, everything deleted, gc.collect()",
        got=f"{counts} tensors still alive",
        expected="0, or a number that does not grow",
        where=name,
        cause=f"{name}, global to all calls (class or module), grows with every call{line} and is never emptied",
        fix="keep what belongs to one call on its ctx, by save_for_backward; it is freed with the graph",
        method="forward",
        body=(
            "import gc, weakref\nrefs = []\nfor _ in range(5):\n    out = {call}\n"
            "    out = out[0] if isinstance(out, tuple) else out\n    out.sum().backward()\n    del out\ngc.collect()\n"
            "print('tensors alive:', sum(type(o) is torch.Tensor for o in gc.get_objects()), 'after 5 calls')"
        ),
    )
