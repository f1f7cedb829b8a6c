"""ReLU and its derivative: the kink at 0, and the slope torch picks there."""


def sides():
    # --8<-- [start:sides]
    import torch

    zero = torch.tensor(0.0)
    h = 2.0**-10  # a power of two: nothing is rounded
    left = (torch.relu(zero) - torch.relu(zero - h)) / h
    right = (torch.relu(zero + h) - torch.relu(zero)) / h
    print("slope on the left ", left.item())
    print("slope on the right", right.item())
    # --8<-- [end:sides]


def choice():
    # --8<-- [start:choice]
    import torch

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = torch.relu(x)
    y.backward(torch.tensor([10.0, 20.0, 30.0]))
    print("y     ", y.tolist())
    print("x.grad", x.grad.tolist())
    # --8<-- [end:choice]


def ways():
    # --8<-- [start:ways]
    import torch

    zero = torch.tensor(0.0)
    ways = {
        "torch.relu(x)": torch.relu,
        "x * (x > 0)": lambda x: x * (x > 0),
        "torch.where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, 0),
        "(x + x.abs()) / 2": lambda x: (x + x.abs()) / 2,
        "torch.maximum(x, zero)": lambda x: torch.maximum(x, zero),
        "x.clamp(min=0)": lambda x: x.clamp(min=0),
    }
    for name, f in ways.items():
        x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
        y = f(x)
        y.sum().backward()
        assert torch.equal(y, torch.relu(x))
        print(f"{name:<24}", x.grad[1].item())
    # --8<-- [end:ways]


def stuck():
    # --8<-- [start:stuck]
    import torch

    ways = {"relu": torch.relu, "clamp": lambda x: x.clamp(min=0)}
    for name, f in ways.items():
        weight = torch.zeros(3, requires_grad=True)
        inputs = torch.tensor([1.0, 2.0, 3.0])
        f(weight @ inputs).backward()
        print(f"{name:<6}", weight.grad.tolist())
    # --8<-- [end:stuck]


def special():
    # --8<-- [start:special]
    import math

    import torch

    x = torch.tensor([-0.0, math.nan, -1.0], requires_grad=True)
    y = torch.relu(x)
    y.backward(torch.tensor([1.0, 1.0, math.inf]))
    print("y     ", y.tolist())
    print("x.grad", x.grad.tolist())
    # --8<-- [end:special]


def average():
    # --8<-- [start:average]
    import torch
    from torch.autograd import gradcheck

    zero = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    try:
        gradcheck(torch.relu, zero)
    except RuntimeError as error:
        print(str(error).strip())

    for at in (0.0, 5e-7, 2e-6):
        x = torch.tensor([at], dtype=torch.float64, requires_grad=True)
        passed = gradcheck(torch.relu, x, eps=1e-6, raise_exception=False)
        print(f"at {at}: {passed}")
    # --8<-- [end:average]


def blind():
    # --8<-- [start:blind]
    import torch
    from torch.autograd import gradcheck

    zero = torch.zeros(1, dtype=torch.float64)
    functions = {
        "relu": torch.relu,
        "clamp": lambda x: x.clamp(min=0),
        "maximum": lambda x: torch.maximum(x, zero),
        "abs": torch.abs,
    }
    torch.manual_seed(0)
    away = torch.randn(9, dtype=torch.float64, requires_grad=True)
    print("         grad  at 0   away")
    for name, f in functions.items():
        x = zero.clone().requires_grad_()
        f(x).backward()
        here = gradcheck(f, x, raise_exception=False)
        there = gradcheck(f, away, raise_exception=False)
        print(f"{name:<8} {x.grad.item()}   {here!s:<5}  {there}")
    # --8<-- [end:blind]


def kinks():
    # --8<-- [start:kinks]
    import torch
    from torch.nn import functional as F

    rows = [
        ("relu", F.relu, 0),
        ("leaky_relu, 0.1", lambda x: F.leaky_relu(x, 0.1), 0),
        ("relu6", F.relu6, 6),
        ("hardtanh", F.hardtanh, -1),
        ("hardtanh", F.hardtanh, 1),
        ("hardsigmoid", F.hardsigmoid, 3),
        ("hardswish", F.hardswish, -3),
        ("hardswish", F.hardswish, 3),
        ("softshrink", F.softshrink, 0.5),
        ("abs", torch.abs, 0),
        ("clamp(-1, 1)", lambda x: x.clamp(-1, 1), -1),
        ("clamp(-1, 1)", lambda x: x.clamp(-1, 1), 1),
    ]
    h = 2.0**-20
    print("function           at   left  right  smallest  torch")
    for name, f, at in rows:
        x = torch.tensor(at, dtype=torch.float64)
        left = ((f(x) - f(x - h)) / h).item()
        right = ((f(x + h) - f(x)) / h).item()
        enclose = left * right <= 0  # 0 lies between the two
        smallest = 0.0 if enclose else min(left, right, key=abs)
        f(x.requires_grad_()).backward()
        slopes = f"{left:6.2f} {right:6.2f} {smallest:9.2f}"
        print(f"{name:<15} {at:5} {slopes} {x.grad.item():6.2f}")
    # --8<-- [end:kinks]


def ties():
    # --8<-- [start:ties]
    import torch

    functions = {
        "x.max()": lambda x: x.max(),
        "x.amax(dim=0)": lambda x: x.amax(dim=0),
        "x.max(dim=0)": lambda x: x.max(dim=0).values,
    }
    for name, f in functions.items():
        x = torch.tensor([5.0, 1.0, 5.0], requires_grad=True)
        f(x).backward()
        print(f"{name:<14}", x.grad.tolist())

    a = torch.tensor(5.0, requires_grad=True)
    b = torch.tensor(5.0, requires_grad=True)
    for f in (torch.maximum, torch.fmax):
        grads = torch.autograd.grad(f(a, b), (a, b))
        print(f"{f.__name__:<14}", [g.item() for g in grads])
    # --8<-- [end:ties]


def main():
    sides()
    choice()
    ways()
    stuck()
    special()
    average()
    blind()
    kinks()
    ties()


if __name__ == "__main__":
    main()
