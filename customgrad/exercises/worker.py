"""The process that runs a learner's file: reads one request from stdin, answers in lines of JSON.

    python -m customgrad.exercises.worker

The first line sent is ``{"ready": true}``, after torch is there. Then each step is announced
(``{"at": words}``), so that a process that hangs or dies can be told by its last words, and at the
end comes ``{"verdict": {...}}``.
"""

import contextlib
import json
import os
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

MEMORY = 4 * 2**30
"""Bytes that an answer may take beyond what torch itself holds."""


def main() -> None:
    """Answer one request, and end."""
    results, requests = os.dup(1), os.fdopen(os.dup(0), "rb")
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)  # the file's input() finds nothing
    os.dup2(2, 1)  # what it prints goes where its warnings go
    write, encode, leave = os.write, json.JSONEncoder().encode, os._exit  # the file may delete them

    def send(message: dict[str, Any]) -> None:
        write(results, encode(message).encode() + b"\n")

    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    import torch

    from customgrad.exercises.grading import grade
    from customgrad.exercises.guard import Guard

    torch.set_num_threads(1)
    x = torch.ones(1, requires_grad=True)
    (2 * x).backward(torch.ones(1))  # the first one imports more: not the file's time
    send({"ready": True})
    request = json.loads(requests.readline() or b"{}")
    if not request:
        leave(0)  # never asked
    _limit(MEMORY)
    # As if the file had been run itself: it may import its neighbours, and they hide nothing of ours.
    sys.path.append(str(Path(request["path"]).resolve().parent))
    guard = Guard()
    verdict = grade(
        request["exercise"],
        request["source"],
        request["file"],
        guard=guard,
        at=lambda words: send({"at": words}),
    )
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    send({"verdict": asdict(verdict)})
    leave(0)  # whatever threads and exit handlers the file has left


def _limit(more: int) -> None:
    """Let this process take so many bytes more, where the system can count them."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        total = pages * os.sysconf("SC_PAGE_SIZE") + more
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (total, hard))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main()
