"""Jobs that run beside the preview server, one after another, each once."""

import queue
import threading
from collections.abc import Callable
from pathlib import Path


class Pending(Exception):
    """A result that is not there yet: a job for it is waiting or running."""


class Background:
    """Runs jobs on one thread, and touches a file whenever one has ended."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[tuple[str, Callable[[], None]]] = queue.SimpleQueue()
        self.known: set[str] = set()
        self.failed: dict[str, str] = {}
        """Key of a job that raised → what it raised; it is not run again."""
        self.signal: Path | None = None

    def want(self, key: str, job: Callable[[], None]) -> None:
        """Queue a job, unless one with its key was queued before.

        Raises:
            Pending: always, since the result is not there yet.
        """
        if key not in self.known:
            self.known.add(key)
            self.jobs.put((key, job))
        raise Pending(key)

    def start(self, signal: Path) -> None:
        """Begin, and touch `signal` after each job."""
        self.signal = signal
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            self.run_next()

    def run_next(self) -> None:
        """Wait for a job and run it."""
        key, job = self.jobs.get()
        try:
            job()
        except Exception as error:
            self.failed[key] = str(error)
        finally:
            self.known.discard(key)
        if self.signal is not None:
            self.signal.parent.mkdir(parents=True, exist_ok=True)
            self.signal.write_text(key, encoding="utf-8")
