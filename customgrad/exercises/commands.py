"""``customgrad exercise …``: list, start, check, watch, hint, solution, reset."""

import datetime
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from customgrad.exercises import session
from customgrad.exercises.problem import Problem, Unknown, ladder, names, problem
from customgrad.exercises.progress import Progress
from customgrad.exercises.session import Judged, Unusable, Worker, judge, read, which

__all__ = ["app"]

FOLDER = Path("customgrad-exercises")
CLEAR = "\x1b[2J\x1b[H"
RUNGS = ("a question", "the rule", "the line")

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The exercise; the current one if left out.")
]


def _end(text: str) -> typer.Exit:
    """Print what is wrong with the call; return what ends the command with 2."""
    typer.echo(f"customgrad exercise: {text}", err=True)
    return typer.Exit(2)


def _progress() -> Progress:
    progress = Progress.load()
    if progress.trouble:
        typer.echo(f"customgrad exercise: {progress.trouble}", err=True)
    return progress


def _save(progress: Progress) -> None:
    if problem := progress.save():
        typer.echo(f"customgrad exercise: {problem}", err=True)


def _task(name: str | None, progress: Progress) -> Problem:
    """Return the exercise that is meant: by name, or the current one, or the first unsolved."""
    if name is None:
        current = progress.current if progress.current in names() else ""
        if not current or current in progress.solved:
            current = session.unfinished(progress.solved) or current or names()[0]
        return problem(current)
    try:
        return problem(Path(name).stem if name.endswith(".py") else name)
    except Unknown as error:
        raise _end(str(error)) from None


def _place(task: Problem) -> Path:
    """Return where the learner's file is: here, or in the folder of the exercises."""
    here = Path(task.file)
    return here if here.is_file() and not (FOLDER / task.file).is_file() else FOLDER / task.file


def _then(task: Problem) -> str:
    if _place(task).is_file():
        return f"customgrad exercise check {task.name}"
    return f"customgrad exercise start {task.name}"


@app.callback(invoke_without_command=True)
def next_one(context: typer.Context) -> None:
    """Exercises in custom gradients: the next one, and what to type."""
    if context.invoked_subcommand is not None:
        return
    progress = _progress()
    name = session.unfinished(progress.solved)
    if name is None:
        typer.echo(f"all {len(names())} exercises are solved")
        typer.echo("again: customgrad exercise list")
        return
    task = problem(name)
    solved = len([n for n in names() if n in progress.solved])
    typer.echo(f"{task.name}: {task.title} ({task.level}), {solved} of {len(names())} solved")
    place = _place(task)
    if place.is_file():
        typer.echo(f"  your file  {place}")
    typer.echo(f"  next       {_then(task)}")


@app.command("list")
def list_all() -> None:
    """List the exercises, their level, and which are solved."""
    progress = _progress()
    width = max(map(len, names()))
    done, open_ = _marks("✓", "·")
    for rung in ladder():
        typer.echo(rung["name"])
        for name in rung["exercises"]:
            task = problem(name)
            mark = done if name in progress.solved else open_
            typer.echo(f"  {mark} {name:<{width}}  {task.level:<6}  {task.title}")
    solved = len([n for n in names() if n in progress.solved])
    typer.echo(f"{solved} of {len(names())} solved")
    name = session.unfinished(progress.solved)
    if name:
        typer.echo(f"next: {_then(problem(name))}")


@app.command()
def start(
    name: Name = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the starter, and write nothing.")
    ] = False,
) -> None:
    """Write an exercise's starter, with its statement, into ./customgrad-exercises/."""
    progress = _progress()
    task = _task(name, progress)
    if print_:
        typer.echo(task.start, nl=False)
        return
    place = _place(task)
    if place.exists():
        raise _end(
            f"{place} is there already, and stays as it is; "
            f"check it: customgrad exercise check {task.name}, or begin anew: customgrad exercise reset {task.name}"
        )
    _write(place, task.start)
    progress.current = task.name
    _save(progress)
    typer.echo(f"{task.name}: {task.title} ({task.level})")
    typer.echo(f"  your file  {place}: the statement, and what to fill in")
    typer.echo(f"  next       customgrad exercise check {task.name}")


def _write(place: Path, text: str) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _end(f"{place} cannot be written: {error.strerror}") from None


@app.command()
def check(
    target: Annotated[
        str | None, typer.Argument(metavar="[NAME|FILE]", help="An exercise, or your file.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Check every file that you have.")] = False,
    chosen: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The exercise that FILE answers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object of JSON.")] = False,
) -> None:
    """Judge your answer: the first thing that is wrong, and why.

    Exit code 0: passed; 1: not yet; 2: a wrong call, or a file that cannot be judged.
    """
    progress = _progress()
    if every:
        if target or chosen:
            raise _end("--all checks every file that you have: leave out the name")
        raise typer.Exit(_all(progress, as_json))
    path, task, source = _found(target, chosen, progress)
    verdict = _judged(task, path, source)
    _record(progress, verdict)
    if as_json:
        typer.echo(json.dumps(asdict(verdict), indent=1))
    else:
        _show(verdict)
    raise typer.Exit(0 if verdict.passed else 1)


def _found(target: str | None, chosen: str | None, progress: Progress) -> tuple[Path, Problem, str]:
    """Return the file that is meant, its exercise and its text."""
    try:
        if target is not None and (target.endswith(".py") or Path(target).is_file()):
            path = Path(target)
            if path.is_dir():
                raise _end(f"{path} is a folder; name your file")
            if not path.exists():
                raise _end(f"there is no file {path}; name your file, or the exercise")
            source = read(path)
            return path, problem(which(path, source, chosen)), source
        task = _task(target if target is not None else chosen, progress)
        path = _place(task)
        if not path.is_file():
            raise _end(f"there is no {path} yet; write it: customgrad exercise start {task.name}")
        return path, task, read(path)
    except (Unusable, Unknown) as error:
        raise _end(str(error)) from None


def _judged(task: Problem, path: Path, source: str, worker: Worker | None = None) -> Judged:
    try:
        return judge(task.name, path, source, worker)
    except Unusable as error:
        raise _end(str(error)) from None


def _record(progress: Progress, verdict: Judged) -> None:
    progress.current = verdict.exercise
    if verdict.passed:
        progress.solved.setdefault(verdict.exercise, datetime.date.today().isoformat())
    _save(progress)


def _all(progress: Progress, as_json: bool) -> int:
    verdicts = []
    for name in names():
        path = _place(problem(name))
        if path.is_file():
            try:
                verdict = _judged(problem(name), path, read(path))
            except Unusable as error:
                raise _end(str(error)) from None
            _record(progress, verdict)
            verdicts.append(verdict)
            if not as_json:
                mark = _marks("✓", "✗")[not verdict.passed]
                failing = "" if verdict.passed else f": {verdict.check}"
                _line(f"{mark} {name}{failing}", verdict.passed)
    if not verdicts:
        raise _end(
            f"there is no file in {FOLDER} yet; begin: customgrad exercise start {names()[0]}"
        )
    passed = all(v.passed for v in verdicts)
    if as_json:
        data = {"passed": passed, "exercises": [asdict(v) for v in verdicts]}
        typer.echo(json.dumps(data, indent=1))
    else:
        typer.echo(f"{sum(v.passed for v in verdicts)} of {len(verdicts)} pass")
    return 0 if passed else 1


@app.command()
def watch(
    target: Annotated[
        str | None, typer.Argument(metavar="[NAME|FILE]", help="An exercise, or your file.")
    ] = None,
    chosen: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The exercise that FILE answers.")
    ] = None,
) -> None:
    """Judge your answer after every save, until Ctrl-C; it stays at this exercise."""
    try:
        import watchfiles
    except ImportError:
        raise _end("watch needs watchfiles; install it with: pip install 'watchfiles>=1'") from None
    path, task, source = _found(target, chosen, _progress())
    spare = Worker()
    try:
        for text in _texts(watchfiles, path, source):
            worker, spare = spare, Worker()  # the next one imports torch while you type
            if text is None:
                typer.echo(f"{path} is gone; waiting for it")
                worker, spare = spare, worker
                worker.stop()
                continue
            verdict = _judged(task, path, text, worker)
            _record(_progress(), verdict)
            if sys.stdout.isatty():
                sys.stdout.write(CLEAR)
            _show(verdict)
            typer.echo(f"watching {path}; Ctrl-C ends")
            sys.stdout.flush()
    except KeyboardInterrupt:
        return
    finally:
        spare.stop()


def _texts(watchfiles: Any, path: Path, source: str) -> Iterator[str | None]:
    """Yield the text of the file now, and whenever it has changed."""
    yield source
    last: str | None = source
    # The folder: editors replace a file by a new one.
    for _ in watchfiles.watch(path.parent.resolve(), debounce=60, step=20, recursive=False):
        try:
            text = read(path) if path.is_file() else None
        except Unusable as error:
            typer.echo(f"customgrad exercise: {error}", err=True)
            continue
        if text != last:
            last = text
            yield text


@app.command()
def hint(name: Name = None) -> None:
    """Show the next of three hints: a question; the rule and its page; the line."""
    progress = _progress()
    task = _task(name, progress)
    number = min(progress.hints.get(task.name, 0), 2)
    progress.hints[task.name] = number + 1
    progress.current = task.name
    _save(progress)
    typer.echo(f"{task.name}: hint {number + 1} of 3, {RUNGS[number]}")
    typer.echo(
        textwrap.fill(
            task.hints[number].replace("`", ""), 88, initial_indent="  ", subsequent_indent="  "
        )
    )
    more = f"the next hint: customgrad exercise hint {task.name}"
    last = f"the solution: customgrad exercise solution {task.name} --reveal"
    typer.echo(f"  next: {_then(task)}; {more if number < 2 else last}")


@app.command()
def solution(
    name: Name = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Even before yours passes.")] = False,
) -> None:
    """Print a solution, once yours has passed."""
    progress = _progress()
    if name is None and progress.current in progress.solved:
        name = progress.current
    task = _task(name, progress)
    if task.name not in progress.solved and not reveal:
        typer.echo(f"{task.name} has not passed yet: customgrad exercise check {task.name}")
        typer.echo(f"  a hint       customgrad exercise hint {task.name}")
        typer.echo(f"  or give up   customgrad exercise solution {task.name} --reveal")
        raise typer.Exit(1)
    typer.echo(task.solution)
    for paragraph in task.explanation.split("\n\n"):
        text = " ".join(paragraph.split()).replace("`", "").replace("$", "")
        typer.echo(textwrap.fill(text, 88, initial_indent="# ", subsequent_indent="# "))


@app.command()
def reset(name: Name = None) -> None:
    """Put the starter back; what you have written is kept beside it."""
    progress = _progress()
    task = _task(name, progress)
    place = _place(task)
    if place.is_file():
        number = 1
        while (kept := place.with_name(f"{task.name}.before-{number}.py")).exists():
            number += 1
        try:
            shutil.move(place, kept)
        except OSError as error:
            raise _end(f"{place} cannot be renamed: {error.strerror}") from None
        typer.echo(f"  kept       {kept}")
    _write(place, task.start)
    progress.solved.pop(task.name, None)
    progress.hints.pop(task.name, None)
    progress.current = task.name
    _save(progress)
    typer.echo(f"  anew       {place}")
    typer.echo(f"  next       customgrad exercise check {task.name}")


def _marks(*marks: str) -> tuple[str, ...]:
    """Return these signs, or plain ones where the console has no such letters."""
    plain = {"✓": "+", "✗": "x", "·": "-"}
    try:
        "".join(marks).encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return tuple(plain[mark] for mark in marks)
    return marks


def _show(verdict: Judged) -> None:
    """Print the message, on a terminal with colour."""
    mark = _marks("✓", "✗")[not verdict.passed]
    first, _, rest = verdict.message.partition("\n")
    _line(f"{mark} {first}", verdict.passed)
    if not sys.stdout.isatty():
        typer.echo(rest)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text(rest)
    text.highlight_regex(r"(?m)^  (why|do|next|note|where|what)\b", "yellow")
    text.highlight_regex(r"customgrad exercise [^(\n]*", "bold")
    Console(soft_wrap=True, highlight=False).print(text)  # rich itself honours NO_COLOR


def _line(text: str, good: bool) -> None:
    if not sys.stdout.isatty():
        typer.echo(text)
        return
    from rich.console import Console

    Console(soft_wrap=True, highlight=False).print(
        text, style="bold green" if good else "bold red", markup=False
    )
