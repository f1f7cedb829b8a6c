"""Gradient reversal: used, put in the right place, changed in place, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ReverseGradient

    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = ReverseGradient.apply(x, 0.5)
    y.backward(torch.tensor([1.0, 2.0, 4.0]))
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def loss():
    # --8<-- [start:loss]
    import torch
    from customgrad.functions import (
        reverse_gradient,
    )

    feature = torch.tensor(3.0)
    head = torch.tensor(2.0)
    feature.requires_grad_()
    head.requires_grad_()
    guess = head * feature
    loss = (guess - 1).square()
    reverse_gradient(loss).backward()
    print("head   ", head.grad.item())
    print("feature", feature.grad.item())
    # --8<-- [end:loss]


def between():
    # --8<-- [start:between]
    import torch
    from customgrad.functions import (
        reverse_gradient,
    )

    feature = torch.tensor(3.0)
    head = torch.tensor(2.0)
    feature.requires_grad_()
    head.requires_grad_()
    guess = head * reverse_gradient(feature)
    loss = (guess - 1).square()
    loss.backward()
    print("head   ", head.grad.item())
    print("feature", feature.grad.item())
    # --8<-- [end:between]


def place():
    # --8<-- [start:place]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import reverse_gradient

    x = torch.tensor([-2.0, 0.5], requires_grad=True)
    try:
        F.relu(reverse_gradient(x), inplace=True)
    except RuntimeError as error:
        print(str(error).split(". ")[0])
    y = F.relu(reverse_gradient(x).clone(), inplace=True)
    y.sum().backward()
    print(x.grad)
    # --8<-- [end:place]


def zero():
    # --8<-- [start:zero]
    import torch
    from customgrad.functions import reverse_gradient

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for scale in (1.0, 0.0):
        y = reverse_gradient(x, scale=scale)
        (grad,) = torch.autograd.grad(y, x, torch.tensor([3.0, torch.inf]))
        print(scale, grad.abs())
    # --8<-- [end:zero]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import reverse_gradient

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

    print("kept:", count(reverse_gradient))
    x = torch.ones(1000)
    print("same memory:", reverse_gradient(x).data_ptr() == x.data_ptr())
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import reverse_gradient

    x = torch.tensor(2.0, requires_grad=True)
    for y in (x**3, reverse_gradient(x, scale=0.5) ** 3):
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
        print(f"slope {slope.item():5.1f}  second {second.item():5.1f}")
    # --8<-- [end:twice]


def main():
    use()
    loss()
    between()
    place()
    zero()
    kept()
    twice()


if __name__ == "__main__":
    main()
