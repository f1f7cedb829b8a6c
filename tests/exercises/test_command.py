"""``customgrad exercise``: what a learner types, what is printed, what is kept."""

import json
import os
import subprocess
import sys
import time

import pytest
import torch

from customgrad.cli import main
from customgrad.exercises import grade, names, problem
from customgrad.exercises.progress import Progress

RELU = problem("relu")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*words):
        code = main(["exercise", *words])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def test_from_start_to_solution(run, tmp_path):
    code, out, _ = run()
    assert code == 0
    assert "customgrad exercise start relu" in out
    code, out, _ = run("start")
    assert code == 0
    assert "next       customgrad exercise check relu" in out
    file = tmp_path / "customgrad-exercises" / "relu.py"
    assert file.read_text() == RELU.start
    code, out, _ = run("check")
    assert code == 1
    assert "not written yet" in out
    assert out.startswith("✗ relu: check 2 of ")
    code, out, _ = run("solution")
    assert code == 1
    assert "has not passed" in out
    assert "masked_fill" not in out
    file.write_text(RELU.solution)
    code, out, _ = run("check", "relu")
    assert code == 0
    assert out.startswith("✓ relu: all ")
    code, out, _ = run("solution")
    assert code == 0
    assert RELU.solution in out
    code, out, _ = run("list")
    assert "✓ relu" in out
    assert f"1 of {len(names())} solved" in out


def test_work_is_never_lost(run, tmp_path):
    file = tmp_path / "customgrad-exercises" / "relu.py"
    run("start", "relu")
    file.write_text("mine")
    code, _, err = run("start", "relu")
    assert code == 2
    assert "stays as it is" in err
    assert file.read_text() == "mine"
    code, _out, _ = run("reset", "relu")
    assert code == 0
    assert file.read_text() == RELU.start
    assert file.with_name("relu.before-1.py").read_text() == "mine"
    file.write_text("again")
    run("reset", "relu")
    assert file.with_name("relu.before-2.py").read_text() == "again"
    assert file.with_name("relu.before-1.py").read_text() == "mine"


def test_hints_come_one_at_a_time(run):
    seen = [run("hint", "relu")[1] for _ in range(4)]
    assert [f"hint {n} of 3" in out for n, out in zip((1, 2, 3, 3), seen, strict=True)] == [
        True
    ] * 4
    assert "--reveal" in seen[2]
    assert "--reveal" not in seen[0]


def test_json_is_one_object(run, tmp_path):
    wrong = RELU.mutants[0]
    (tmp_path / "mine.py").write_text(wrong.source)
    code, out, _ = run("check", "mine.py", "--json")
    data = json.loads(out)
    assert code == 1
    assert list(data) == ["exercise", "passed", "check", "message", "diagnosis", "next"]
    assert data["exercise"] == "relu"
    assert data["passed"] is False
    assert data["diagnosis"].startswith(wrong.why)
    code, out, _ = run("check", "mine.py", "--as", "CustomReLU", "--json")
    assert json.loads(out) == data


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "reli"], "did you mean relu"),
        (["check", "nothing.py"], "there is no file nothing.py"),
        (["check", "relu"], "write it: customgrad exercise start relu"),
        (["check", "--all"], "no file in customgrad-exercises"),
        (["check", "--all", "relu"], "leave out the name"),
        (["start", "none"], "no exercise is called 'none'"),
        (["hint", "none"], "customgrad exercise list"),
        (["check", "odd.py"], "--as NAME"),
        (["check", "latin.py"], "is not UTF-8 text"),
        (["check", "odd.py", "--as", "nobody"], "no exercise is called 'nobody'"),
    ],
)
def test_wrong_calls(run, tmp_path, words, said):
    (tmp_path / "odd.py").write_text("x = 1\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    code, _, err = run(*words)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_a_torch_file_beside_it_is_named(run, tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "relu.py").write_text(RELU.solution)
    code, _, err = run("check", "relu.py")
    assert code == 2
    assert "torch.py hides a library" in err


SENTENCES = {  # these end where the grader itself runs
    "exit()\n": "exit()",
    "def (:\n": "relu.py:1 does not parse",
    "x = 1\n": "does not define CustomReLU",
    "1 / 0\n": "ZeroDivisionError: division by zero",
    "import torch\ntorch.relu = torch.abs\nclass CustomReLU: pass\n": "replaces torch.relu",
    "import torch\ndel torch.Tensor.backward\nclass CustomReLU: pass\n": "deletes torch.Tensor.backward",
    "import builtins\nbuiltins.abs = lambda x: 0\n": "replaces abs",
    f"from customgrad.functions import CustomReLU\n{RELU.solution}": "imports from customgrad",
    RELU.solution.replace("input.clamp(min=0)", "torch.relu(input)"): "calls torch.relu",
    RELU.solution.replace(
        "input.clamp(min=0)", 'getattr(torch, "re" + "lu")(input)'
    ): "torch's own relu",
    f"import torch\ntorch.set_default_dtype(torch.float64)\n{RELU.solution}": "checks pass",
}


@pytest.mark.parametrize("source", SENTENCES, ids=range(len(SENTENCES)))
def test_odd_answers_get_a_sentence(source):
    dtype, relu, absolute = torch.get_default_dtype(), torch.relu, abs
    verdict = grade("relu", source)
    assert SENTENCES[source] in verdict.message
    assert "Traceback" not in verdict.message
    assert verdict.passed is ("checks pass" in verdict.message)
    assert torch.get_default_dtype() is dtype
    assert torch.relu is relu
    assert abs is absolute
    assert hasattr(torch.Tensor, "backward")


ODD = {  # and these are stopped from outside
    "while True:\n    pass\n": "did not end within 2 s, while it was imported",
    RELU.solution.replace(
        "return input.clamp", "while True: pass\n        return input.clamp"
    ): "did not end within 2 s, in the check",
    "import os; os._exit(3)\n": "with exit code 3",
    "import os; os.kill(os.getpid(), 11)\n": "by signal 11",
    "import torch\nx = torch.ones(1 << 33)\n": "can't allocate memory",
    f"print('word ' * 200000)\nprint('two')\n{RELU.solution}": "printed   word word",
    f"input()\n{RELU.solution}": "EOFError",
}


@pytest.fixture(scope="module")
def workers():
    """Start the next process while one is at work, as `watch` does."""
    from customgrad.exercises.session import Worker

    spare = [Worker()]

    def next_one():
        spare.append(Worker())
        return spare.pop(0)

    yield next_one
    for worker in spare:
        worker.stop()


@pytest.mark.parametrize("source", ODD, ids=range(len(ODD)))
def test_odd_files_get_a_sentence(tmp_path, monkeypatch, workers, source):
    from customgrad.exercises import session

    monkeypatch.setattr(session, "SECONDS", 2.0)
    file = tmp_path / "relu.py"
    verdict = session.judge("relu", file, source, workers())
    assert ODD[source] in verdict.message
    assert "Traceback" not in verdict.message
    assert len(verdict.message.splitlines()) <= 13
    assert len(verdict.message) < 2000
    assert verdict.passed is ("all 17 checks pass" in verdict.message)


def test_progress_survives(tmp_path):
    path = tmp_path / "deep" / "exercises.json"
    progress = Progress(path, {"relu": "2026-01-01"}, {"relu": 2}, "relu", {"newer": [1]})
    assert progress.save() == ""
    assert Progress.load(path) == progress
    assert json.loads(path.read_text())["newer"] == [1]
    path.write_text('{"solved": {"re')  # as if something else had cut it
    again = Progress.load(path)
    assert again.solved == {}
    assert "exercises.broken.json" in again.trouble
    assert path.with_suffix(".broken.json").read_text() == '{"solved": {"re'


def test_progress_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "exercises.json"
    Progress(path, {"relu": "2026-01-01"}).save()
    before = path.read_text()

    def crash(*_):
        raise RuntimeError("power cut")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(RuntimeError, match="power cut"):
        Progress(path, {"square": "2026-01-02"}).save()
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in Progress(tmp_path / "file" / "exercises.json").save()


def test_watch_judges_after_each_save(tmp_path):
    file = tmp_path / "relu.py"
    file.write_text(RELU.starter)
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path / "data"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "customgrad", "exercise", "watch", "relu.py"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        read = iter(process.stdout.readline, "")
        assert next(read).startswith("✗ relu: check 2 of")
        assert any("watching relu.py" in line for line in read)
        time.sleep(0.3)  # the watcher looks at the folder from here on
        file.write_text(RELU.solution)
        assert next(read).startswith("✓ relu: all")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
