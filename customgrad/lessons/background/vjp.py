"""Vector-Jacobian products: what grad_output is, and why backward receives it."""


def full():
    # --8<-- [start:full]
    import torch

    def f(x):
        return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])

    x = torch.tensor([2.0, 5.0], requires_grad=True)
    v = torch.tensor([1.0, 10.0, 100.0])
    J = torch.func.jacrev(f)(x)
    (grad,) = torch.autograd.grad(f(x), x, grad_outputs=v)
    print("J      ", J.tolist())
    print("J.T @ v", (J.T @ v).tolist())
    print("grad   ", grad.tolist())
    # --8<-- [end:full]


def arrives():
    # --8<-- [start:arrives]
    import torch

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    losses = {
        "y.sum()": lambda y: y.sum(),
        "y.mean()": lambda y: y.mean(),
        "(y * y).sum()": lambda y: (y * y).sum(),
        "y.sum() + y.mean()": lambda y: y.sum() + y.mean(),
    }
    for name, loss in losses.items():
        y = x * 10
        y.retain_grad()
        loss(y).backward()
        print(f"{name:<19}", y.grad)
    # --8<-- [end:arrives]


def nonscalar():
    # --8<-- [start:nonscalar]
    import torch

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    try:
        (x * 10).backward()
    except RuntimeError as error:
        print(error)

    (x * 10).backward(gradient=torch.tensor([1.0, 0.5]))
    print(x.grad)
    # --8<-- [end:nonscalar]


def rows():
    # --8<-- [start:rows]
    import torch

    def f(x):
        return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])

    x = torch.tensor([2.0, 5.0], requires_grad=True)
    y = f(x)
    for v in torch.eye(3):
        (row,) = torch.autograd.grad(y, x, v, retain_graph=True)
        print(v.tolist(), "gives", row.tolist())
    # --8<-- [end:rows]


def diagonal():
    # --8<-- [start:diagonal]
    import torch

    x = torch.tensor([-2.0, 1.0, 3.0])
    v = torch.tensor([10.0, 20.0, 30.0])
    J = torch.func.jacrev(torch.relu)(x)
    print(J)
    print(J.T @ v)
    print(v * (x > 0))
    # --8<-- [end:diagonal]


def shapes():
    # --8<-- [start:shapes]
    import torch

    x = torch.ones(2, 3, requires_grad=True)
    w = torch.ones(4, 3)
    y = x @ w.T
    J = torch.func.jacrev(lambda x: x @ w.T)(x)
    (grad,) = torch.autograd.grad(y, x, torch.ones_like(y))
    for name, t in {"x": x, "y": y, "J": J, "grad": grad}.items():
        print(f"{name:<5}", tuple(t.shape))
    # --8<-- [end:shapes]


def linear():
    # --8<-- [start:linear]
    import torch

    def f(x):
        return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])

    _, vjp = torch.func.vjp(f, torch.tensor([2.0, 5.0]))
    u = torch.tensor([1.0, 2.0, 3.0])
    v = torch.tensor([1.0, 10.0, 100.0])
    print(vjp(3 * u - 50 * v)[0])
    print(3 * vjp(u)[0] - 50 * vjp(v)[0])
    # --8<-- [end:linear]


def squared():
    # --8<-- [start:squared]
    import torch
    from torch.autograd import gradcheck, gradgradcheck

    class Squared(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.sin()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * grad_output * x.cos()

    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    print("gradcheck    ", gradcheck(Squared.apply, x))
    print("gradgradcheck", gradgradcheck(Squared.apply, x))
    for name, f in {"torch": torch.sin, "Squared": Squared.apply}.items():
        grads = [torch.autograd.grad(c * f(x), x)[0] for c in (1, 2, 3)]
        print(f"{name:<13}", [g.item() for g in grads])
    # --8<-- [end:squared]


def jvp():
    # --8<-- [start:jvp]
    import torch

    def f(x):
        return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])

    x = torch.tensor([2.0, 5.0])
    u = torch.tensor([1.0, 0.0])
    v = torch.tensor([1.0, 10.0, 100.0])
    _, Ju = torch.func.jvp(f, (x,), (u,))
    _, vjp = torch.func.vjp(f, x)
    print("J @ u        ", Ju.tolist())
    print("v . (J @ u)  ", torch.dot(v, Ju).item())
    print("(J.T @ v) . u", torch.dot(vjp(v)[0], u).item())
    # --8<-- [end:jvp]


def main():
    arrives()
    full()
    diagonal()
    shapes()
    nonscalar()
    rows()
    linear()
    squared()
    jvp()


if __name__ == "__main__":
    main()
