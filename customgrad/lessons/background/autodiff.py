"""How autograd records a graph in the forward pass and replays it backward."""


def walk():
    # --8<-- [start:walk]
    import torch

    def show(node, depth=0):
        name = "none" if node is None else type(node).__name__
        print("  " * depth + name)
        if node is not None:
            for earlier, _ in node.next_functions:
                show(earlier, depth + 1)

    x = torch.tensor(2.0)
    w = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(1.0, requires_grad=True)
    inner = w * x + b
    loss = inner**2
    show(loss.grad_fn)

    loss.backward()
    print(f"inner value {inner.item():g}")
    print(x.grad, w.grad, b.grad)
    # --8<-- [end:walk]


def replay():
    # --8<-- [start:replay]
    import torch

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    loss = torch.relu(x).sum()

    sum_node = loss.grad_fn
    relu_node = sum_node.next_functions[0][0]
    gradient = torch.tensor(1.0)
    for node in (sum_node, relu_node):
        gradient = node(gradient)
        print(type(node).__name__, "returns", gradient.tolist())

    loss.backward()
    print("x.grad is", x.grad.tolist())
    # --8<-- [end:replay]


def fresh():
    # --8<-- [start:fresh]
    import torch

    def f(x):
        return x.exp() if x > 0 else x.sin()

    for value in (1.0, -1.0):
        y = f(torch.tensor(value, requires_grad=True))
        print(value, type(y.grad_fn).__name__)
    # --8<-- [end:fresh]


def saved():
    # --8<-- [start:saved]
    import torch

    x = torch.tensor([1.0, 4.0], requires_grad=True)
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    c = torch.tensor([5.0, 6.0])
    outputs = {
        "x + w": x + w,
        "x * w": x * w,
        "x * c": x * c,
        "x.relu()": x.relu(),
        "x.sum()": x.sum(),
    }
    for name, output in outputs.items():
        node = output.grad_fn
        for key in dir(node):
            if key.startswith("_saved_"):
                value = getattr(node, key)
                if isinstance(value, torch.Tensor):
                    value = value.tolist()
                print(f"{name:<9} {key:<22} {value}")
    # --8<-- [end:saved]


def changed():
    # --8<-- [start:changed]
    import textwrap

    import torch

    x = torch.tensor([1.0, 4.0], requires_grad=True)
    y = torch.relu(x)
    y.mul_(10)
    try:
        y.sum().backward()
    except RuntimeError as error:
        print(textwrap.fill(str(error).partition(":")[0]))
    # --8<-- [end:changed]


def leaves():
    # --8<-- [start:leaves]
    import torch

    x = torch.tensor([1.0, 4.0])
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    h = w * x
    h.retain_grad()
    h.sum().backward()
    print("   leaf   requires_grad  grad")
    for name, t in {"x": x, "w": w, "h": h}.items():
        print(f"{name}  {t.is_leaf!s:<6} {t.requires_grad!s:<14} {t.grad}")
    # --8<-- [end:leaves]


def accumulate():
    # --8<-- [start:accumulate]
    import torch

    w = torch.tensor([2.0, 3.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(2):
        (w * 10).sum().backward()
        print(w.grad)

    optimizer.zero_grad()
    print(w.grad)
    # --8<-- [end:accumulate]


def freed():
    # --8<-- [start:freed]
    import torch

    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    loss = torch.relu(x).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        print(str(error).partition(" (")[0])

    loss = torch.relu(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    print(x.grad)
    # --8<-- [end:freed]


def carried():
    # --8<-- [start:carried]
    import torch

    w = torch.ones(1, requires_grad=True)
    state = torch.ones(1)
    try:
        for _ in range(2):
            state = torch.relu(w * state)
            state.backward()
        print(w.grad)
    except RuntimeError as error:
        print(str(error)[:26])
    # --8<-- [end:carried]


def detached():
    # --8<-- [start:detached]
    import torch

    w = torch.ones(1, requires_grad=True)
    state = torch.ones(1)
    try:
        for _ in range(2):
            state = torch.relu(w * state)
            state.backward()
            state = state.detach()
        print(w.grad)
    except RuntimeError as error:
        print(str(error)[:26])
    # --8<-- [end:detached]


def off():
    # --8<-- [start:off]
    import torch

    x = torch.tensor([1.0, 4.0], requires_grad=True)
    with torch.no_grad():
        quiet = x * 2
    print("no_grad", quiet.grad_fn)
    print("detach ", x.detach().grad_fn)
    print("x > 2  ", (x > 2).grad_fn)
    # --8<-- [end:off]


def main():
    replay()
    walk()
    fresh()
    saved()
    changed()
    leaves()
    accumulate()
    freed()
    carried()
    detached()
    off()


if __name__ == "__main__":
    main()
