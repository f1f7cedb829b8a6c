"""Times and memory of the catalogue's Functions, as ratios within one run: `make bench`.

Each case runs forward and backward in the same process, in rounds, in a new order each round; a round gives
one ratio, and the median of the ratios is kept. Absolute times mean nothing here and are not stored. The
results stand in tests/benchmarks/results/, one file an operation, which the pages' tables are made from.
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

RESULTS = Path(__file__).with_name("results")
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


def cotangents(call, inputs):
    """Return normal numbers for each output that has a gradient."""
    return tuple(torch.randn_like(y) for y in catalogue.floats(call(*inputs)) if y.requires_grad)


def step(call, inputs, given):
    """Return a function that runs forward and backward once.

    Gradients are handed out and not accumulated: `.grad` would cost every case one more copy.
    """

    def run():
        outputs = [y for y in catalogue.floats(call(*inputs)) if y.requires_grad]
        torch.autograd.grad(outputs, inputs, given, allow_unused=True)

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


def saved_bytes(call, inputs, beside=False):
    """Return the bytes of the distinct storages that forward keeps for backward, those of the inputs or not."""
    kept = {}
    own = {x.untyped_storage().data_ptr() for x in inputs} if beside else set()

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = (
            storage.nbytes(),
            tensor,
        )  # held, so that no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = call(*inputs)
    del output
    return sum(size for address, (size, _) in kept.items() if address not in own)


def peak_bytes(run):
    """Return the most that is allocated at one time while it runs, above the start."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        run()
    now = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    return peak


def cases_of(operation):
    """Return case → call: this package's, the further ones, composed, and torch's own."""
    calls = {"custom": operation.call, **operation.bench.cases}
    if operation.reference is not operation.builtin:
        calls["composed"] = operation.bench.composed or operation.reference
    calls |= {"builtin": operation.builtin} if operation.builtin else {}
    return {name: operation.bench.within(call) for name, call in calls.items()}


def leaves(make, dtype=torch.float32):
    """Return inputs that require gradients."""
    return tuple(x.to(dtype).requires_grad_() for x in make())


def measure(operation):
    """Return the figures of one operation."""
    calls = cases_of(operation)
    base = "builtin" if "builtin" in calls else "composed"
    found = {"operation": operation.name, "base": base, "time": {}}
    sizes = {label: (make, torch.float32) for label, make in operation.bench.sizes.items()}
    if half := operation.bench.half:
        sizes[f"{half}, bfloat16"] = (operation.bench.sizes[half], torch.bfloat16)
    for label, (make, dtype) in sizes.items():
        inputs = leaves(make, dtype)
        given = cotangents(calls[base], inputs)
        cases = {name: step(call, inputs, given) for name, call in calls.items()}
        found["time"][label] = ratios(cases, base)
        print(f"{operation.name} {label}: {found['time'][label]}", flush=True)
    inputs = leaves(operation.bench.memory)
    given, elements = cotangents(calls[base], inputs), inputs[0].numel()
    found["saved"], found["peak"] = {}, {}
    if beside := operation.bench.beside_inputs:
        found["beside inputs"] = True
    for name, call in calls.items():
        run = step(call, inputs, given)
        run()
        found["saved"][name] = round(saved_bytes(call, inputs, beside) / elements, 3)
        found["peak"][name] = round(peak_bytes(run) / elements, 2)
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
    # Of several entries the first, which is the plain one.
    first = {o.name: o for o in reversed(catalogue.OPERATIONS)}
    if unknown := set(names) - set(first):
        known = ", ".join(o.name for o in catalogue.OPERATIONS)
        sys.exit(f"bench: no operation {', '.join(sorted(unknown))}; known are {known}")
    stamp = {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__.split("+")[0],
        "python": platform.python_version(),
        "warm heap": warm_heap(),
        "rounds": ROUNDS,
    }
    RESULTS.mkdir(exist_ok=True)
    for name in names or first:
        report = stamp | measure(first[name])
        text = json.dumps(report, indent=1) + "\n"
        (RESULTS / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
