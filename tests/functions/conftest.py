"""Helpers of the Functions' tests: bitwise comparison, layouts, sections of a source file."""

import re
from pathlib import Path

import pytest
import torch
from torch.overrides import TorchFunctionMode

BITS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def _assert_same(got, expected):
    """Same dtype, shape and bits; any NaN equals any NaN."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    got, expected = got.detach().contiguous(), expected.detach().contiguous()
    assert torch.equal(got.isnan(), expected.isnan()), (got, expected)
    bits = BITS[got.dtype]
    number = ~got.isnan()
    assert torch.equal(got.view(bits)[number], expected.view(bits)[number]), (got, expected)


@pytest.fixture(scope="session")
def assert_same():
    return _assert_same


class _Counted(TorchFunctionMode):
    """Counts what Python code asks torch for."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__.strip("_"))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def counted():
    return _Counted()


def _lay_out(values, layout):
    """Return the same values in other strides ("expanded" repeats the first entry of dim 0)."""
    if layout == "transposed" and values.ndim > 1:
        return values.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "sliced" and values.ndim > 0:
        return torch.stack([values, torch.full_like(values, 7.0)], dim=-1)[..., 0]
    if layout == "offset":
        buffer = torch.cat([torch.full((3,), 7.0, dtype=values.dtype), values.flatten()])
        return buffer[3:].view(values.shape)
    if layout == "expanded" and values.ndim > 0 and values.shape[0] > 0:
        return values[:1].expand(values.shape)
    return values


@pytest.fixture(scope="session")
def lay_out():
    return _lay_out


@pytest.fixture(scope="session")
def run_sections():
    """Run sections of a package file on their own, as a reader who copies them would."""
    root = Path(__file__).parents[2]

    def run(path, *names):
        text = (root / path).read_text(encoding="utf-8")
        code = ""
        for name in names:
            section = re.search(
                rf"# --8<-- \[start:{name}\]\n(.*?)# --8<-- \[end:{name}\]", text, re.DOTALL
            )
            assert section, f"{path} has no section {name}"
            code += section[1] + "\n\n"
        imported = {
            line.split()[1].split(".")[0] for line in code.splitlines() if "import " in line
        }
        assert imported <= {"torch", "math"}, imported
        namespace = {"__name__": "copied"}
        exec(compile(code, path, "exec"), namespace)
        return namespace, code

    return run
