"""The command line: what it checks, what it says, and its exit codes."""

import builtins
import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from customgrad import cli

HEAD = "import torch\nfrom torch.autograd import Function\n"
RIGHT = """
class Right(Function):
    @staticmethod
    def forward(ctx, x, scale=3.0):
        ctx.scale = scale
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.scale, None
"""
WRONG = RIGHT.replace("Right", "Wrong").replace(
    "grad_output * ctx.scale", "-grad_output * ctx.scale"
)
SAMPLES = """
def sample_inputs():
    return torch.randn(3, dtype=torch.float64), 2.0
"""
FEW = "--select=CG101,CG103,CG201,CG202"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a function that writes files into the working directory; modules and paths are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("_in_", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        if not name.startswith(("torch", "rich", "typer")):
            del sys.modules[name]


@pytest.fixture
def run(capsys):
    """Return a function that runs the command: (exit code, stdout, stderr)."""

    def call(*arguments):
        code = cli.main([*arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


# ---- What is checked, and with which inputs ----


def test_clean_and_findings_and_their_exit_codes(folder, run):
    folder(ops=HEAD + RIGHT + WRONG)
    code, out, err = run("check", "ops.py::Right", "--inputs", "randn(3)", FEW)
    assert (code, err) == (0, "")
    assert out.startswith("ops.py::Right: nothing found (4 rules passed, ")
    code, out, err = run("check", "ops.py::Wrong", "--inputs", "randn(3), 2.0", FEW)
    assert (code, err) == (1, "")
    assert "× bug · CG201 wrong-gradient\n" in out
    assert "(ops.py:" in out
    assert "\x1b" not in out


def test_a_whole_file_and_what_has_no_samples(folder, run):
    folder(ops=HEAD + RIGHT + WRONG + SAMPLES.replace("inputs", "inputs_Wrong"))
    code, out, _ = run("check", "ops.py", FEW)
    assert code == 1
    assert re.findall(r"^ops.py::(\w+): ", out, re.MULTILINE) == ["Wrong"]
    assert "no inputs, not checked: ops.py::Right" in out


def test_samples_of_the_class_come_first_then_its_own_then_the_modules(folder, run):
    own = RIGHT + "\n    @staticmethod\n    def sample_inputs():\n        return ('the class',)\n"
    named = "\ndef sample_inputs_Wrong():\n    return ('its own',)\nsample_inputs_Right = None\n"
    named = named.replace("None", "sample_inputs_Wrong")
    plain = "\ndef sample_inputs():\n    return ('the module',)\n"
    other = RIGHT.replace("Right", "Other")
    folder(ops=HEAD + own + WRONG + other + named + plain)
    from customgrad.checker import loading

    module = loading.load("ops")
    given = {n: loading.samples(module, n, s)() for n, s in loading.functions(module)}
    assert given == {"Right": ("the class",), "Wrong": ("its own",), "Other": ("the module",)}
    code, _, err = run("check", "ops.py")
    assert code == 2
    assert err.count("must hold a floating or complex tensor, got str") == 3


def test_a_folder_a_package_and_a_dotted_module(folder, run):
    folder(
        pack_in___init__="",
        pack_in_base=HEAD + RIGHT,
        pack_in_sub_in___init__="",
        pack_in_sub_in_ops="from ..base import Right\n" + HEAD + WRONG + SAMPLES,
        pack_in_untouched="raise SystemExit('not imported: it defines none')",
        scripts_in_one=HEAD + RIGHT + SAMPLES,
        scripts_in_venv_in_two="Function = 1 / 0",
    )
    code, out, err = run("check", "pack", "scripts", FEW)
    assert (code, err) == (1, "")
    assert re.findall(r"^(\S+)::(\w+): ", out, re.MULTILINE) == [
        ("pack/sub/ops.py", "Wrong"),
        ("scripts/one.py", "Right"),
    ]
    assert "no inputs, not checked: pack/base.py::Right" in out
    assert out.endswith("2 Functions checked, 1 with findings\n")
    assert run("check", "pack.sub.ops", FEW)[0] == 1
    assert run("check", "pack.base::Right", "--inputs", "randn(2)", FEW)[0] == 0
    assert run("check", "pack.sub", FEW)[0] == 1


def test_files_of_one_name_and_of_a_standard_modules_name(folder, run):
    folder(
        a_in_ops=HEAD + RIGHT + SAMPLES,
        b_in_ops=HEAD + WRONG + SAMPLES,
        c_in_random=HEAD + RIGHT + SAMPLES,
    )
    code, out, err = run("check", "a", "b", "c", FEW)
    assert (code, err) == (1, "")
    assert len(re.findall(r"^\w/\w+.py::\w+: ", out, re.MULTILINE)) == 3
    assert "3 Functions checked, 1 with findings" in out


def test_a_callable_that_is_named(folder, run):
    folder(ops=HEAD + WRONG + "\ndef wrong(x):\n    return Wrong.apply(x, 2.0)\n")
    code, out, _ = run("check", "ops.py::wrong", "--inputs", "randn(3)", FEW)
    assert code == 1
    assert "ops.py::wrong: " in out


EXPRESSIONS = {
    "randn(3, 4), randn(4)": "float64 float64",
    "randn(3)": "float64",
    "ones(2, dtype=float32), 0.5, None, 'sum', [1, 2]": "float32 float NoneType str list",
    "[randn(2), randn(2)]": "list",
    "tensor([1., inf]), float('nan'), {'a': zeros(1)}": "float64 float dict",
    "torch.arange(3), max(1, 2), True": "int64 int bool",
    "nn.functional.relu(randn(2)), float16, (1, 2)": "float64 dtype tuple",
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    import torch

    from customgrad.checker import loading

    torch.manual_seed(3)
    before = torch.get_rng_state()
    value = loading.evaluate(text)()
    kinds = [str(v.dtype)[6:] if isinstance(v, torch.Tensor) else type(v).__name__ for v in value]
    assert " ".join(kinds) == EXPRESSIONS[text]
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("randn(3", "SyntaxError: '(' was never closed"),
        ("randm(3)", "NameError: name 'randm' is not defined"),
        ("randn(2), print", "holds a builtin_function_or_method"),
        ("[object()]", "holds a object; an expression may hold tensors, numbers, strings, None"),
        ("exit()", "SystemExit"),
        ("3", "must hold a floating or complex tensor, got int"),
    ],
)
def test_expressions_that_are_wrong(folder, run, text, words):
    folder(ops=HEAD + RIGHT)
    code, out, err = run("check", "ops.py::Right", "--inputs", text)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_inputs_for_several_functions(folder, run):
    folder(ops=HEAD + RIGHT + WRONG)
    code, _, err = run("check", "ops.py", "--inputs", "randn(3)")
    assert code == 2
    assert "there are 2 (Right, Wrong); name one: ops.py::Right" in err


def test_a_reference(folder, run):
    folder(ops=HEAD + RIGHT + SAMPLES, truth="def thrice(x, scale):\n    return x * scale\n")
    for name in ("truth:thrice", "truth.py:thrice"):
        assert run("check", "ops.py", "--reference", name, FEW)[0] == 0
    assert "write module:name" in run("check", "ops.py", "--reference", "thrice")[2]
    assert "truth.py has no twice" in run("check", "ops.py", "--reference", "truth:twice")[2]


def test_options_reach_the_checker(folder, run, monkeypatch):
    from customgrad import checker

    folder(ops=HEAD + RIGHT + SAMPLES, truth="def truth(x, scale):\n    return x * scale\n")
    given = {}

    def check(subject, inputs, **options):
        given.update(options)
        return checker.Report("Right")

    monkeypatch.setattr(checker, "check", check)
    run(
        "check",
        "ops.py",
        "--select",
        "CG1",
        "--select",
        "CG2,CG3",
        "--ignore=CG202",
        "--surrogate",
        "--seed=7",
        "--fast",
        "--reference=truth:truth",
    )
    assert given.pop("reference").__name__ == "truth"
    given.pop("progress")
    assert given == {
        "select": "CG1,CG2,CG3",
        "ignore": "CG202",
        "surrogate": True,
        "seed": 7,
        "fast": True,
    }


# ---- Comments ----

COMMENTS = {
    "class Wrong(Function):  # customgrad: ignore[CG201]": 0,
    "class Wrong(Function):  # customgrad: ignore[CG101, CG201]": 0,
    "class Wrong(Function):  # noqa: N801  # customgrad: ignore[CG2]": 0,
    "class Wrong(Function):  # customgrad: ignore": 0,
    "class Wrong(\n    Function\n):  # customgrad: ignore[CG201]": 0,
    "# customgrad: ignore[CG201]\n@decorated\nclass Wrong(Function):": 0,
    "@decorated  # customgrad: ignore[CG201]\nclass Wrong(Function):": 0,
    "class Wrong(Function):  # customgrad: ignore[CG202]": 1,
    "class Wrong(Function):  # customgrad: ignore[]": 1,
    "class Wrong(Function):\n    # customgrad: ignore[CG201]": 1,
    "x = 1  # customgrad: ignore[CG201]\nclass Wrong(Function):": 1,
    "class Wrong(Function):\n    '''customgrad: ignore'''": 1,
}


@pytest.mark.parametrize("line", COMMENTS)
def test_comments_silence(folder, run, line):
    text = WRONG.replace("class Wrong(Function):", line)
    folder(ops=HEAD + "def decorated(c):\n    return c\n" + text + SAMPLES)
    code, out, err = run("check", "ops.py", FEW)
    assert code == COMMENTS[line], out
    assert ("silenced by a comment" in out) is (code == 0)
    assert ("CG201 wrong-gradient" in out) is (code == 1)
    assert ("ignore[] names no code" in err) is ("ignore[]" in line)


def test_an_unknown_code_in_a_comment_is_reported(folder, run):
    folder(
        ops=HEAD
        + WRONG.replace("Function):", "Function):  # customgrad: ignore[CG999, CG201]")
        + SAMPLES
    )
    code, _, err = run("check", "ops.py", FEW)
    assert code == 0
    assert (
        err
        == "customgrad check: ops.py:4: ignore[CG999]: no rule has this code; nothing is silenced\n"
    )


# ---- Output ----


def test_formats(folder, run):
    folder(
        ops=HEAD + RIGHT + WRONG + "print('imported')\n" + SAMPLES.replace("inputs", "inputs_Wrong")
    )
    code, out, err = run("check", "ops.py", "--format", "json", FEW)
    told = json.loads(out)
    assert code == 1
    assert err == "imported\n"
    assert (told["ok"], told["without_samples"], told["errors"]) == (False, ["ops.py::Right"], [])
    assert told["reports"][0]["findings"][0]["reproduction"].startswith(
        "import torch\nfrom ops import Wrong\n"
    )
    code, out, _ = run("check", "ops.py", "--format=github", FEW)
    assert code == 1
    assert re.match(r"::error file=ops.py,line=\d+,title=CG201 wrong-gradient::", out)
    code, out, _ = run("check", "ops.py", "--format=sarif", FEW)
    assert code == 1
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "CG201"
    code, out, _ = run("check", "ops.py", "--show-script", FEW)
    assert "  Without customgrad:\n\n    import torch\n    from ops import Wrong\n" in out


def test_the_script_that_is_shown_runs_without_customgrad(folder, run, capsys):
    folder(ops=HEAD + WRONG.replace("-grad_output", "grad_output.clamp(0, 1)") + SAMPLES)
    _, out, _ = run("check", "ops.py", "--format=json", "--select=CG202")
    script = json.loads(out)["reports"][0]["findings"][0]["reproduction"]
    assert "customgrad" not in script
    exec(compile(script, "script", "exec"), {})
    assert "-50 times the gradient" in capsys.readouterr().out


def test_a_terminal_gets_colour_unless_it_is_refused(folder, run, monkeypatch):
    folder(ops=HEAD + WRONG + SAMPLES)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = run("check", "ops.py", FEW)[1]
    assert "\x1b" not in plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    coloured = run("check", "ops.py", FEW)[1]
    assert "\x1b[1;31m× bug" in coloured
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in coloured.splitlines()) <= 70
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in run("check", "ops.py", FEW)[1]
    assert "× bug" in run("check", "ops.py", FEW)[1]


def test_a_bar_on_a_terminal_alone(folder, run, monkeypatch):
    folder(ops=HEAD + RIGHT + SAMPLES)
    assert run("check", "ops.py", FEW)[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    code, out, err = run("check", "ops.py", FEW)
    assert code == 0
    assert "Right CG" in err
    assert "Right CG" not in out


# ---- Wrong calls, and imports that fail ----


def test_explain_and_list(run):
    code, out, err = run("check", "--explain", "cg202")
    assert (code, err) == (0, "")
    assert out.startswith(
        "CG202 nonlinear-cotangent · bug\n\nBackward is not linear in grad_output.\n\nA gradient"
    )
    assert run("check", "--explain", "nonlinear-cotangent")[1] == out
    code, out, err = run("check", "--explain", "CG999")
    assert (code, out) == (2, "")
    assert "no rule has the code 'CG999'" in err
    assert "  CG101  forward-raises\n" in err
    code, out, _ = run("check", "--list")
    assert code == 0
    assert re.search(
        r"^CG101  bug +forward-raises +forward raises on the inputs as given\.$", out, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check"], "name what to check: customgrad check file.py::MyFunction"),
        (["check", "none.py"], "none.py: no such file, folder or module"),
        (["check", "no.such.module"], "no.such.module: no such file, folder or module"),
        (["check", "ops.py::Absent"], "ops.py has no Absent; the Functions in it: Right"),
        (["check", "ops.py::Right"], "no inputs for ops.py::Right; pass --inputs"),
        (["check", "empty.py"], "no Function in empty.py"),
        (
            ["check", "ops.py::sys", "--inputs=randn(2)"],
            "subject must be a torch.autograd.Function",
        ),
        (
            ["check", "ops.py", "--inputs=randn(2)", "--select=CG999"],
            "no rule has the code or severity 'CG999'",
        ),
        (
            ["check", "ops.py", "--format=xml"],
            "--format must be one of text, json, github, sarif, got 'xml'",
        ),
        (["check", ".::Right"], "a name needs a file"),
        (["check", "--seed=x", "ops.py"], "--seed"),
        (["check", "--nonsense"], "--nonsense"),
        (["chekc"], "chekc"),
    ],
)
def test_wrong_calls(folder, run, arguments, words):
    folder(ops="import sys\n" + HEAD + RIGHT, empty="x = 1")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch\nimport absent_module\n", "bad.py:2: cannot be imported: ModuleNotFoundError: No module named 'absent_module'"),
        ("import sys\n\nsys.exit(0)\n", "bad.py:3: cannot be imported: it exits (SystemExit(0)) where it should only define"),
        ("def f(:\n    pass\n", "bad.py:1: cannot be imported: SyntaxError: invalid syntax"),
        ("import helper\n", "helper.py:2: cannot be imported: ZeroDivisionError: division by zero"),
        ("from . import helper\n", "bad.py:1: cannot be imported: ImportError: attempted relative import"),
        ("import torch\ntorch.zeros(2).reshape(3)\n", "bad.py:2: cannot be imported: RuntimeError: shape '[3]' is invalid"),
    ],
)  # fmt: skip
def test_imports_that_fail(folder, run, text, words):
    folder(bad=text, helper="x = 0\ny = 1 / x\n", ops=HEAD + RIGHT + SAMPLES)
    code, out, err = run("check", "bad.py", "ops.py", FEW)
    assert code == 2
    assert err.startswith(f"customgrad check: {words}"), err
    assert len(err.splitlines()) == 1
    assert "ops.py::Right: nothing found" in out, "the others are checked all the same"


def test_samples_that_raise(folder, run):
    folder(ops=HEAD + RIGHT + "\ndef sample_inputs():\n    raise OSError('no data')\n")
    code, _, err = run("check", "ops.py")
    assert (code, err) == (
        2,
        "customgrad check: ops.py::Right: sample_inputs raised OSError: no data\n",
    )


def test_without_typer_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(cli, "typer", None)
    assert cli.main(["check"]) == 2
    assert (
        capsys.readouterr().err
        == "customgrad: the command line needs typer; install it with: pip install 'typer>=0.15'\n"
    )


def test_the_module_can_be_imported_without_typer(monkeypatch):
    import importlib.util

    real = builtins.__import__

    def without(name, *rest):
        if name == "typer":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    spec = importlib.util.spec_from_file_location("cli_without_typer", cli.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main([]) == 2


def test_an_error_of_ours_is_not_a_finding(folder, monkeypatch, capsys):
    monkeypatch.setattr(cli.Session, "collect", lambda self, targets: 1 / 0)
    assert cli.main(["check", "ops.py"]) == 2
    assert "ZeroDivisionError" in capsys.readouterr().err


# ---- As a process ----


def test_as_a_process(folder):
    where = folder(ops=HEAD + WRONG + SAMPLES)
    root = os.path.dirname(os.path.dirname(cli.__file__))
    environment = os.environ | {"PYTHONPATH": root, "PYTHONIOENCODING": "utf-8"}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=where,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )

    done = run("-m", "customgrad", "check", "ops.py", FEW)
    assert (done.returncode, done.stderr) == (1, "")
    assert "× bug · CG201 wrong-gradient" in done.stdout
    code = "import sys; from customgrad.cli import main; main(['check', '--help']); print('torch' in sys.modules, 'rich' in sys.modules)"
    done = run("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: customgrad check [OPTIONS] [TARGET]..." in done.stdout
    assert done.stdout.endswith("\nFalse False\n")
