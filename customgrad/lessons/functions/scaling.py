"""Gradient scaling: used, compared with the line with detach, and with an optimizer that undoes it."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ScaleGradient

    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = ScaleGradient.apply(x, 0.1)
    y.backward(torch.tensor([1.0, 2.0, 4.0]))
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def detached():
    # --8<-- [start:detached]
    import torch

    x = torch.tensor([0.1, 0.2, 0.3])
    y = 9 * x + (x - 9 * x).detach()
    print((y == x).tolist())
    inf = torch.tensor(torch.inf)
    y = 9 * inf + (inf - 9 * inf)
    print(y.item())
    # --8<-- [end:detached]


def exact():
    # --8<-- [start:exact]
    import torch
    from customgrad.functions import (
        scale_gradient,
    )

    x = torch.tensor([0.1, 0.2, 0.3])
    y = scale_gradient(x, scale=9.0)
    print((y == x).tolist())
    inf = torch.tensor(torch.inf)
    y = scale_gradient(inf, scale=9.0)
    print(y.item())
    # --8<-- [end:exact]


def adam():
    # --8<-- [start:adam]
    import torch
    from customgrad.functions import scale_gradient

    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        for scale in (1.0, 0.1):
            w = torch.tensor(5.0, requires_grad=True)
            step = optimizer([w], lr=0.1)
            scale_gradient(w, scale=scale).square().backward()
            step.step()
            moved = 5 - w.item()
            name = optimizer.__name__
            print(f"{name:4}  scale {scale}  moved {moved:.2f}")
    # --8<-- [end:adam]


def place():
    # --8<-- [start:place]
    import torch
    from customgrad.functions import scale_gradient

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = scale_gradient(x, scale=0.0)
    y.sum().backward()
    print(x.grad)
    try:
        scale_gradient(x, scale=torch.inf)
    except ValueError as error:
        print(*str(error).split(", got"), sep=",\ngot")
    # --8<-- [end:place]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import scale_gradient

    def count(call):
        """Tensors that forward keeps for backward."""
        found = []

        def pack(tensor):
            found.append(tensor)
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(1000, requires_grad=True))
        return len(found)

    print("kept:", count(lambda x: scale_gradient(x, scale=0.1)))
    x = torch.ones(1000)
    y = scale_gradient(x, scale=0.1)
    print("same memory:", y.data_ptr() == x.data_ptr())
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import scale_gradient

    x = torch.tensor(2.0, requires_grad=True)
    for y in (x**3, scale_gradient(x, scale=0.5) ** 3):
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
        print(f"slope {slope.item():4.1f}  second {second.item():4.1f}")
    # --8<-- [end:twice]


def main():
    use()
    detached()
    exact()
    adam()
    place()
    kept()
    twice()


if __name__ == "__main__":
    main()
