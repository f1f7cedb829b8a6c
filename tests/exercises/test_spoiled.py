"""Exercises that return no gradient: what stands for a spoiled gradient there is refused, too."""

import pytest

from customgrad.exercises import grade, names, problem

BACKBONE = """        optimizer.step()
        w = next(model.backbone.parameters()).data
        w.copy_(torch.nextafter(w, w + 1))"""
STATISTIC = """        optimizer.step()
        next(b for b in model.backbone.buffers() if not b.is_floating_point()).add_(1)"""
SPOILED: dict[str, dict[str, list[tuple[str, str]]]] = {
    "momentum": {
        "scaled": [("p.sub_(lr", "p.sub_(1.02 * lr")],
        "biased": [("p.sub_(lr * step)", "p.sub_(lr * (step + 0.01 * p.grad.abs().mean()))")],
        "zero": [("p.sub_(lr", "p.sub_(0 * lr")],
        "constant": [("p.sub_(lr * step)", "p.sub_(lr * torch.ones_like(p))")],
    },
    "sgd": {
        "scaled": [('p.sub_(group["lr"]', 'p.sub_(1.02 * group["lr"]')],
        "biased": [
            (
                'p.sub_(group["lr"] * self.direction(p, group))',
                'p.sub_(group["lr"] * (self.direction(p, group) + 0.01 * p.grad.abs().mean()))',
            )
        ],
        "zero": [('p.sub_(group["lr"]', 'p.sub_(0 * group["lr"]')],
        "constant": [("self.direction(p, group))", "torch.ones_like(p))")],
        "right for gradients of one alone": [("p.grad, group", "torch.ones_like(p), group")],
    },
    "rates": {
        "scaled": [("rate = lr", "rate = 1.02 * lr")],
        "biased": [("rate = lr", "rate = lr + 0.01 * lr")],
        "zero": [("rate = lr", "rate = 0 * lr")],
        "constant": [("rate = rate * factor", "rate = lr")],
    },
    "decay": {
        "scaled": [("weight_decay}", "1.02 * weight_decay}")],
        "biased": [('"weight_decay": 0.0', '"weight_decay": 0.01 * weight_decay')],
        "zero": [("weight_decay}", "0.0 * weight_decay}")],
        "constant": [("weight_decay}", "0.01}")],
        "the learning rate scaled": [("lr=lr", "lr=1.02 * lr")],
    },
    "freeze": {
        "the head's gradient reversed": [("loss.backward()", "(-loss).backward()")],
        "zero": [("loss.backward()", "(0 * loss).backward()")],
        "constant learning rate": [("lr=lr", "lr=0.05")],
        "the backbone off by a last digit": [
            ("        optimizer.step()", BACKBONE),
        ],
        "one statistic off": [
            ("        optimizer.step()", STATISTIC),
        ],
    },
}
CASES = [(name, words) for name, spoils in SPOILED.items() for words in spoils]


@pytest.mark.parametrize(("name", "words"), CASES)
def test_spoiled(name, words):
    source = problem(name).solution
    for old, new in SPOILED[name][words]:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    verdict = grade(name, source)
    assert not verdict.passed
    assert verdict.check != "before the first check"


def test_every_exercise_without_a_gradient_is_here():
    without = [name for name in names() if not problem(name).differentiates]
    assert not set(without) - set(SPOILED)
