"""Run somebody's code so that nothing it does outlives it.

An error, an exit or an endless loop ends the step that it happened in, and no other; global state
that the code changed is put back.
"""

import builtins
import contextlib
import ctypes
import io
import random
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["Outcome", "TimeUp", "attempt", "limited", "restored", "seed", "uninterrupted"]


class TimeUp(BaseException):
    """The time that a step was given is over; no ``except Exception`` of the checked code stops it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a step: a value, or the error that ended it."""

    value: Any = None
    error: BaseException | None = None

    @property
    def ok(self) -> bool:
        """Whether it came to its end."""
        return self.error is None

    @property
    def words(self) -> str:
        """The error in one line."""
        if self.error is None:
            return ""
        if isinstance(self.error, SystemExit):
            return f"SystemExit({self.error.code!r})"
        text = str(self.error).strip().splitlines()
        return f"{type(self.error).__name__}: {text[0]}" if text else type(self.error).__name__

    def line(self, *files: str | None) -> tuple[str, int] | None:
        """Return file and line of the innermost frame in one of these files that the error passed."""
        if self.error is None:
            return None
        frames = traceback.extract_tb(self.error.__traceback__)
        for frame in reversed(frames):
            if frame.filename in files and frame.lineno is not None:
                return frame.filename, frame.lineno
        return None


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in this thread when the time is over.

    On the main thread a timer signal interrupts system calls, too; elsewhere, and on Windows, the
    error is raised at the next instruction of Python.
    """
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):

        def ring(number: int, frame: Any) -> None:
            raise TimeUp(f"no end after {seconds:g} s")

        before = signal.signal(signal.SIGALRM, ring)
        # Rings again: code under `except BaseException` may have swallowed the first.
        running = signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *running)
            signal.signal(signal.SIGALRM, before)
        return
    thread = threading.get_ident()

    def interrupt() -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeUp))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold the time limit back: an import that it stopped half way would leave a broken module behind."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def attempt(step: Callable[..., Any], *args: Any, seconds: float = 30.0, **options: Any) -> Outcome:
    """Call a step, and keep what it raises, an exit included; only Ctrl-C passes."""
    try:
        with limited(seconds):
            return Outcome(step(*args, **options))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome(error=error)


def seed(number: int) -> None:
    """Start torch's, NumPy's and Python's random numbers anew."""
    # torch.manual_seed formats a traceback at every call, in case CUDA is started later.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
    random.seed(number)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(number % 2**32)


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Put back what code may change for everybody, and print nothing.

    That is: random numbers, default dtype, grad mode, threads, warnings, and names that the code
    deleted from, or replaced in, torch and Python's builtins.
    """
    names = [(module, dict(vars(module))) for module in (builtins, torch, torch.nn.functional)]
    numpy = sys.modules.get("numpy")
    kept = (torch.get_rng_state(), random.getstate(), numpy and numpy.random.get_state())
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    lenient = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            torch.inference_mode(False),
            torch.enable_grad(),
            torch.autocast("cpu", enabled=False),
        ):
            warnings.simplefilter("ignore")
            torch.set_num_threads(1)
            yield
    finally:
        for module, before in names:
            now = vars(module)
            now.update({k: v for k, v in before.items() if now.get(k, names) is not v})
        torch.set_rng_state(kept[0])
        random.setstate(kept[1])
        if numpy:
            numpy.random.set_state(kept[2])
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict, warn_only=lenient)
