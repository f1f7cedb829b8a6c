"""Times and memory of the catalogue's Functions, as ratios within one run: `make bench`.

Each case runs forward and backward in the same process, in rounds, in a new order each round; a round gives
one ratio, and the median of the ratios is kept. Absolute times mean nothing here and are not stored. The
results stand in tests/benchmarks/results.json, which the pages' tables are made from.
"""

import ctypes
import json
import platform
import random
import statistics
import sys
import time
from pathlib import Path

import torch

from sitetools import catalogue

RESULTS = Path(__file__).with_name("results.json")
SIZES = {"10": 10, "1e5": 10**5, "1e7": 10**7}
ROUNDS = 15
ROUND_SECONDS = 0.05
"""How long one case runs in a round, at least one call."""


def warm_heap():
    """Keep freed memory in the process; without this, page faults hide every difference at 1e7 elements.

    Returns:
        Whether the C library has the two settings (glibc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD).
    """
    try:
        libc = ctypes.CDLL("libc.so.6")
        return libc.mallopt(-3, 1 << 30) == 1 and libc.mallopt(-1, (1 << 31) - 1) == 1
    except (OSError, AttributeError):
        return False


def step(call, x, cotangent):
    """Return a function that runs forward and backward once."""

    def run():
        x.grad = None
        call(x).backward(cotangent)

    return run


def repeated(run, seconds):
    """Return seconds a call, over as many calls as fit in the time given."""
    count, begin = 0, time.perf_counter()
    while True:
        run()
        count += 1
        if (spent := time.perf_counter() - begin) > seconds:
            return spent / count


def ratios(cases, base):
    """Return each case's time over the base's: the median and the quartiles of the rounds' ratios."""
    for run in cases.values():
        run()
    rounds = {name: [] for name in cases}
    order = list(cases)
    for _ in range(ROUNDS):
        random.shuffle(order)
        spent = {name: repeated(cases[name], ROUND_SECONDS) for name in order}
        for name in cases:
            rounds[name].append(spent[name] / spent[base])
    return {
        name: [round(q, 3) for q in statistics.quantiles(values, n=4)]
        for name, values in rounds.items()
    }


def saved_bytes(call, x):
    """Return the bytes of the distinct storages that forward keeps for backward."""
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        call(x)
    return sum(kept.values())


def peak_bytes(call, x, cotangent):
    """Return the most that is allocated at one time during forward and backward, above the start."""
    x.grad = None
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        call(x).backward(cotangent)
    now = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    return peak


def measure(operation):
    """Return the figures of one elementwise operation."""
    calls = {"custom": operation.call, "composed": operation.reference}
    if operation.builtin is not None:
        calls["builtin"] = operation.builtin
    base = "builtin" if operation.builtin is not None else "composed"
    found = {"operation": operation.name, "base": base, "time": {}}
    for label, size in SIZES.items():
        x = torch.randn(size, requires_grad=True)
        cotangent = torch.randn(size)
        cases = {name: step(call, x, cotangent) for name, call in calls.items()}
        found["time"][label] = ratios(cases, base)
        print(f"{operation.name} {label}: {found['time'][label]}", flush=True)
    size = 10**6
    x, cotangent = torch.randn(size, requires_grad=True), torch.randn(size)
    found["saved"] = {name: saved_bytes(call, x) / size for name, call in calls.items()}
    found["peak"] = {
        name: round(peak_bytes(call, x, cotangent) / size, 2) for name, call in calls.items()
    }
    print(f"{operation.name}: saved {found['saved']}, peak {found['peak']} bytes per element")
    return found


def processor():
    """Return the processor's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main(names):
    """Measure the operations named, or all, and store what was found beside the others."""
    torch.manual_seed(0)
    random.seed(0)
    chosen = [o for o in catalogue.OPERATIONS if o.elementwise and (not names or o.name in names)]
    if unknown := set(names) - {o.name for o in chosen}:
        known = ", ".join(o.name for o in catalogue.OPERATIONS if o.elementwise)
        sys.exit(f"bench: no operation {', '.join(sorted(unknown))}; known are {known}")
    stored = (
        json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"results": []}
    )
    warmed = warm_heap()
    found = [measure(operation) for operation in chosen]
    kept = [r for r in stored["results"] if r["operation"] not in {f["operation"] for f in found}]
    order = [o.name for o in catalogue.OPERATIONS]
    report = {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__.split("+")[0],
        "python": platform.python_version(),
        "warm heap": warmed,
        "rounds": ROUNDS,
        "results": sorted(kept + found, key=lambda r: order.index(r["operation"])),
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
