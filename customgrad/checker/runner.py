"""Run the rules over one subject."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from customgrad.checker import holders, sandbox
from customgrad.checker.exam import Exam
from customgrad.checker.report import Finding, NotRun, Report
from customgrad.checker.rule import NotJudged, Rule
from customgrad.checker.rules import RULES
from customgrad.checker.samples import Sample
from customgrad.checker.subject import Subject

__all__ = ["assert_ok", "check"]


def check(
    subject: Any,
    inputs: Any,
    *,
    reference: Callable[..., Any] | None = None,
    surrogate: bool = False,
    select: Iterable[str] | str | None = None,
    ignore: Iterable[str] | str = (),
    seed: int = 0,
    fast: bool = False,
    progress: Callable[[Rule], None] | None = None,
) -> Report:
    """Say whether the gradient of a custom Function can be trusted.

    Args:
        subject: a ``torch.autograd.Function`` class, its ``apply``, a callable that uses it, or an
            ``nn.Module``. Rules that look into the class are not run on the last two.
        inputs: a tuple of arguments; or a list of such tuples, of several shapes; or a function
            that returns either. Tensors that require a gradient are differentiated; if none does,
            all floating ones are. They are copied, and never changed.
        reference: a callable of the same arguments whose values and gradients are right.
        surrogate: the gradient differs from forward's derivative on purpose; only rules that do
            not compare the two are run.
        select: codes, beginnings of codes or severities; only these rules are run.
        ignore: codes or beginnings of codes that are not run.
        seed: for every random number, the subject's own included.
        fast: leave out the rules that take long, those that compile among them.
        progress: called with each rule before it is run.

    Conventions:
        Random numbers, default dtype, grad mode, threads and the caller's tensors are left as
        they were. A rule in which the subject raises, hangs or exits is not run, and says so.

    Returns:
        A `Report`, true when there is no bug and no hazard.

    Raises:
        TypeError: for a subject or inputs of another kind.
        ValueError: for inputs without a floating tensor, or codes that no rule has.
    """
    examined = Subject(subject)
    with sandbox.restored():
        samples = _samples(inputs, examined)
        rules = _chosen(select, ignore)
        exam = Exam(examined, samples, reference=reference, surrogate=surrogate, seed=seed)
        findings: list[Finding] = []
        passed: list[str] = []
        not_run: list[NotRun] = []
        for rule in rules:
            reason = _barred(exam, rule, fast)
            if reason:
                not_run.append(NotRun(rule.code, rule.name, reason))
                continue
            if progress is not None:
                progress(rule)
            began = time.perf_counter()
            outcome = sandbox.attempt(_run, rule, exam, seconds=rule.seconds)
            exam.facts.setdefault("seconds", {})[rule.code] = round(time.perf_counter() - began, 4)
            if outcome.ok:
                findings += outcome.value
                exam.found.update(f.code for f in outcome.value)
                if not outcome.value:
                    passed.append(rule.code)
            elif isinstance(outcome.error, NotJudged):
                not_run.append(NotRun(rule.code, rule.name, str(outcome.error)))
            else:
                not_run.append(NotRun(rule.code, rule.name, f"stopped by {outcome.words}"))
                exam.facts.setdefault("stopped", []).append(rule.code)
    return Report(examined.name, findings, passed, not_run, exam.facts)


def assert_ok(subject: Any, inputs: Any, **options: Any) -> Report:
    """Check, and raise `CheckFailed` with the report as its text if there is a bug or a hazard.

    Takes what `check` takes, for use in tests.
    """
    report = check(subject, inputs, **options)
    report.raise_if_failed()
    return report


def _run(rule: Rule, exam: Exam) -> list[Finding]:
    assert rule.find is not None, f"{rule.code} has no finder"
    with (
        sandbox.restored(),
        holders.undisturbed(exam),
    ):  # what the code changes in one rule must not reach the next
        return list(rule.find(exam))


def _samples(inputs: Any, subject: Subject) -> list[Sample]:
    """Return the inputs as samples, parameters of a module added."""
    given = inputs() if callable(inputs) and not isinstance(inputs, torch.Tensor) else inputs
    if isinstance(given, torch.Tensor):
        given = (given,)
    several = isinstance(given, list | tuple) and given and all(isinstance(g, tuple) for g in given)
    rows: Sequence[Any] = list(given) if several else [given]
    for row in rows:
        if not isinstance(row, tuple | list):
            raise TypeError(
                f"check: inputs must be a tuple of arguments, several such tuples, or a function that "
                f"returns them, got {type(row).__name__}; write (x,) for a single argument"
            )
    samples = [Sample.of((*row, *subject.extra)) for row in rows]
    for sample in samples:
        if not sample.wanted and not any(isinstance(v, list | tuple | dict) for v in sample.values):
            kinds = ", ".join(type(v).__name__ for v in sample.values) or "nothing"
            raise ValueError(
                f"check: inputs of {subject.name} must hold a floating or complex tensor, got {kinds}; "
                "give one to differentiate by, for example torch.randn(3, 4, dtype=torch.float64)"
            )
    return samples


def _chosen(select: Iterable[str] | str | None, ignore: Iterable[str] | str) -> list[Rule]:
    """Return the rules that are asked for."""
    kept = _words(select)
    dropped = _words(ignore)
    for word in (*kept, *dropped):
        if not any(_matches(rule, word) for rule in RULES):
            raise ValueError(
                f"check: no rule has the code or severity {word!r}; the codes are "
                f"{', '.join(rule.code for rule in RULES)}"
            )
    return [
        rule
        for rule in RULES
        if (not kept or any(_matches(rule, w) for w in kept))
        and not any(_matches(rule, w) for w in dropped)
    ]


def _words(given: Iterable[str] | str | None) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str):
        given = given.split(",")
    return [w.strip() for w in given if w.strip()]


def _matches(rule: Rule, word: str) -> bool:
    return rule.code.startswith(word.upper()) or word in (rule.severity, rule.name)


def _barred(exam: Exam, rule: Rule, fast: bool) -> str:
    """Return why a rule cannot be run here, or nothing."""
    if rule.needs_class and exam.subject.function is None:
        return "needs the Function's class; a callable was given"
    if not rule.surrogate and exam.surrogate:
        return "the gradient is a surrogate"
    if fast and (rule.slow or rule.compiles):
        return "left out by fast"
    if rule.needs_backward and exam.found & {"CG101", "CG102", "CG103"}:
        return f"{', '.join(sorted(exam.found & {'CG101', 'CG102', 'CG103'}))} comes first"
    blocking = [code for code in rule.after if code in exam.found]
    return f"{', '.join(blocking)} says more" if blocking else ""
