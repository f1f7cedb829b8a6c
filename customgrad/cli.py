"""The command ``customgrad``: check custom Functions, and work through the exercises."""

import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

__all__ = ["main"]

try:
    import typer
except ImportError:  # pragma: no cover - main() says so
    typer = None  # type: ignore[assignment]

MISSING = "customgrad: the command line needs typer; install it with: pip install 'typer>=0.15'"
FORMATS = ("text", "json", "github", "sarif")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 clean, 1 findings, 2 a wrong call or a failed import."""
    if typer is None:
        print(MISSING, file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="replace"
            )  # a console that lacks a character still shows the rest
    try:
        application()(args=None if arguments is None else list(arguments), prog_name="customgrad")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 2 if end.code else 0
    except Exception:  # ours: 1 would say that something was found
        traceback.print_exc()
        return 2
    return 0


def application() -> Any:
    """Return the command line; torch is imported by the commands that need it, not here."""
    # Plain help: no boxes, the same on a terminal and in a file.
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def base(
        version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    ) -> None:
        """Custom gradients in PyTorch: check your own, and learn to write them."""
        if version:
            from customgrad import __version__

            typer.echo(f"customgrad {__version__}")
            raise typer.Exit(0)

    app.command("check")(check)
    from customgrad.exercises.commands import app as exercises

    app.add_typer(exercises, name="exercise")
    return app


if typer is not None:

    def check(
        targets: Annotated[
            list[str] | None,
            typer.Argument(
                metavar="TARGET",
                help="file.py::MyFunction, a file, a folder, or a dotted module.",
                show_default=False,
            ),
        ] = None,
        inputs: Annotated[
            str | None,
            typer.Option(
                metavar="EXPRESSION",
                help='What the Function is called with: "randn(3, 4), 0.5". torch\'s names, float64.',
            ),
        ] = None,
        select: Annotated[
            list[str] | None,
            typer.Option(metavar="CODES", help="Run these rules alone: CG203,CG3 or a severity."),
        ] = None,
        ignore: Annotated[
            list[str] | None, typer.Option(metavar="CODES", help="Leave these rules out.")
        ] = None,
        form: Annotated[
            str, typer.Option("--format", metavar="FORMAT", help="text, json, github or sarif.")
        ] = "text",
        explain: Annotated[
            str | None, typer.Option(metavar="CODE", help="Explain a rule, and check nothing.")
        ] = None,
        listed: Annotated[bool, typer.Option("--list", help="List all rules.")] = False,
        surrogate: Annotated[
            bool,
            typer.Option("--surrogate", help="The gradient differs from forward's on purpose."),
        ] = False,
        reference: Annotated[
            str | None,
            typer.Option(
                metavar="MODULE:NAME", help="A callable whose values and gradients are right."
            ),
        ] = None,
        seed: Annotated[int, typer.Option(help="For every random number.")] = 0,
        fast: Annotated[bool, typer.Option("--fast", help="Leave out the slow rules.")] = False,
        show_missing: Annotated[
            bool, typer.Option("--show-missing", help="Tell what is missing at length, too.")
        ] = False,
        show_script: Annotated[
            bool, typer.Option("--show-script", help="Print a script that shows each fault.")
        ] = False,
        show_not_run: Annotated[
            bool, typer.Option("--show-not-run", help="List the rules that were not run, and why.")
        ] = False,
    ) -> None:
        """Say whether the gradient of a torch.autograd.Function can be trusted.

        Inputs come from --inputs, or from a sample_inputs() in the class or beside it. A whole
        file, folder or module means every Function in it that has samples. Exit code 0: nothing
        found; 1: findings; 2: a wrong call, or an import that failed.
        """
        if form not in FORMATS:
            raise _wrong(f"--format must be one of {', '.join(FORMATS)}, got {form!r}")
        if explain is not None:
            return _explain(explain)
        if listed:
            return _list()
        if not targets:
            raise _wrong("name what to check: customgrad check file.py::MyFunction")
        session = Session(
            {
                "select": ",".join(select) if select else None,
                "ignore": ",".join(ignore or ()),
                "surrogate": surrogate,
                "seed": seed,
                "fast": fast,
            },
            inputs,
            reference,
        )
        session.collect(targets)
        session.run()
        session.show(form, quiet=show_missing, script=show_script, not_run=show_not_run)
        raise typer.Exit(session.code)


class Session:
    """One run of ``customgrad check``: what it found, what it could not check, and its exit code."""

    def __init__(
        self, options: dict[str, Any], expression: str | None, reference: str | None
    ) -> None:
        """Take the options of `customgrad.check`, and what is still text."""
        from customgrad.checker import Report, loading

        self.loading, self.options = loading, options
        self.jobs: list[tuple[str, Any, Any]] = []
        self.reports: list[Report] = []
        self.without: list[str] = []
        self.problems: list[str] = []
        try:
            self.inputs = (
                None if expression is None else loading.evaluate(expression, options["seed"])
            )
            if reference is not None:
                options["reference"] = self._reference(reference)
        except loading.Unusable as error:
            raise _wrong(str(error)) from None

    def _reference(self, text: str) -> Callable[..., Any]:
        place, _, name = text.replace("::", ":").rpartition(":")
        if not place:
            raise self.loading.Unusable(f"--reference {text}: write module:name, or file.py:name")
        files, _ = self.loading.found(place)
        ((_, value),) = self.loading.functions(self.loading.load(files[0]), name)
        if not callable(value):
            raise self.loading.Unusable(f"--reference {text}: {name} is not callable")
        return value  # type: ignore[no-any-return]

    def collect(self, targets: Sequence[str]) -> None:
        """Import what is named, and find the Functions and their samples."""
        for target in targets:
            try:
                files, name = self.loading.found(target)
            except self.loading.Unusable as error:
                self.problems.append(str(error))
                continue
            for file in files:
                try:
                    module = self.loading.load(file)
                    found = self.loading.functions(module, name)
                except self.loading.Unusable as error:
                    self.problems.append(str(error))
                    continue
                if self.inputs is not None and not name and len(found) > 1:
                    names = ", ".join(key for key, _ in found)
                    self.problems.append(
                        f"{file}: --inputs are those of one Function, and there are {len(found)} "
                        f"({names}); name one: {file}::{found[0][0]}"
                    )
                    continue
                for key, subject in found:
                    samples = self.inputs or self.loading.samples(module, key, subject)
                    if samples is None:
                        self.without.append(f"{file}::{key}")
                    else:
                        self.jobs.append((f"{file}::{key}", subject, samples))
        if not self.jobs and not self.problems:
            if self.without:
                self.problems.append(
                    f'no inputs for {", ".join(self.without)}; pass --inputs "randn(3, 4)", or write '
                    "sample_inputs() in the class or beside it"
                )
                self.without = []
            else:
                self.problems.append(f"no Function in {', '.join(targets)}")

    def run(self) -> None:
        """Check each."""
        from dataclasses import replace

        from customgrad.checker import check as run
        from customgrad.checker.report import Report

        with _progress(len(self.jobs)) as advance:
            for name, subject, inputs in self.jobs:
                silence = self.loading.silence(subject)
                self.problems_of(silence.problems)
                if silence.everything:
                    self.reports.append(Report(name, facts={"silenced": ["everything"]}))
                    continue
                try:
                    report = run(subject, inputs, progress=advance(name), **self.options)
                except (TypeError, ValueError) as error:
                    self.problems.append(f"{name}: {error}")
                    continue
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # raised by the user's sample_inputs
                    self.problems.append(
                        f"{name}: sample_inputs raised {type(error).__name__}: {error}"
                    )
                    continue
                kept = [f for f in report.findings if not silence.covers(f.code)]
                dropped = sorted({f.code for f in report.findings} - {f.code for f in kept})
                facts = report.facts | ({"silenced": dropped} if dropped else {})
                self.reports.append(replace(report, name=name, findings=kept, facts=facts))

    def problems_of(self, notes: Sequence[str]) -> None:
        """Say what is wrong with comments; it decides nothing."""
        for note in notes:
            typer.echo(f"customgrad check: {note}", err=True)

    @property
    def code(self) -> int:
        """The exit code."""
        return 2 if self.problems else 0 if all(self.reports) else 1

    def show(self, form: str, *, quiet: bool, script: bool, not_run: bool) -> None:
        """Print the reports to stdout, and what went wrong to stderr."""
        from customgrad.checker import formats

        if form == "json":
            more = {"without_samples": self.without, "errors": self.problems}
            typer.echo(formats.to_json(self.reports, **more))
        elif form == "sarif":
            typer.echo(formats.sarif(self.reports))
        elif form == "github":
            if text := formats.github(self.reports, quiet=quiet):
                typer.echo(text)
        else:
            self._text(quiet=quiet, script=script, not_run=not_run)
        for problem in self.problems:
            typer.echo(f"customgrad check: {problem}", err=True)

    def _text(self, **options: bool) -> None:
        from customgrad.checker.report import WIDTH, coloured

        width, console = WIDTH, None
        if sys.stdout.isatty():
            from rich.console import Console

            console = Console(soft_wrap=True)  # rich itself honours NO_COLOR
            width = min(width, console.width)
        parts = [report.text(width=width, **options) for report in self.reports]
        if self.without:
            parts.append("no inputs, not checked: " + ", ".join(self.without))
        if len(self.reports) > 1:
            failed = sum(not report for report in self.reports)
            parts.append(f"{len(self.reports)} Functions checked, {failed} with findings")
        text = "\n\n".join(parts)
        if not text:
            return
        if console is None:
            typer.echo(text)
        else:
            console.print(coloured(text))


def _wrong(text: str) -> Exception:
    """Print what is wrong with the call; return what ends the command with 2."""
    typer.echo(f"customgrad check: {text}", err=True)
    return typer.Exit(2)


def _explain(code: str) -> None:
    from customgrad.checker import links
    from customgrad.checker.rules import RULES

    for rule in RULES:
        if code.upper() == rule.code or code == rule.name:
            parts = [f"{rule.code} {rule.name} · {rule.severity}", rule.summary]
            parts += rule.explanation.strip().split("\n\n")
            parts.append(links.page(rule.code))
            typer.echo("\n\n".join(_filled(part) for part in parts if part.strip()))
            return
    rows = "\n".join(f"  {rule.code}  {rule.name}" for rule in RULES)
    raise _wrong(f"no rule has the code {code!r}; the rules are\n{rows}")


def _filled(paragraph: str) -> str:
    """Return a paragraph wrapped anew; one with indented lines or bullets stays as it is."""
    from customgrad.checker.report import WIDTH

    lines = paragraph.strip("\n").splitlines()
    if any(line.startswith((" ", "-", "*")) for line in lines):
        return "\n".join(lines)
    return textwrap.fill(" ".join(lines), WIDTH, break_long_words=False, break_on_hyphens=False)


def _list() -> None:
    from customgrad.checker.rules import RULES

    wide = max(len(rule.name) for rule in RULES)
    for rule in RULES:
        typer.echo(f"{rule.code}  {rule.severity:<8}  {rule.name:<{wide}}  {rule.summary}")


@contextmanager
def _progress(jobs: int) -> Iterator[Callable[[str], Callable[[Any], None] | None]]:
    """Yield what makes a report of progress for each job: a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from customgrad.checker.rules import RULES

    # The stream itself: while a rule runs, sys.stderr leads nowhere.
    console = Console(file=sys.stderr)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    )
    places = {rule.code: k for k, rule in enumerate(RULES)}
    with bar:
        task = bar.add_task("", total=jobs * len(RULES))
        began = 0

        def advance(name: str) -> Callable[[Any], None]:
            nonlocal began
            start = began * len(RULES)
            began += 1

            def step(rule: Any) -> None:
                bar.update(
                    task,
                    completed=start + places[rule.code],
                    description=f"{name.rpartition('::')[2]} {rule.code} {rule.name}",
                )

            return step

        yield advance
