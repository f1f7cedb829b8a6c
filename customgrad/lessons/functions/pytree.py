"""Lists and dicts of tensors: hidden from autograd, and handed over one by one."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Hidden]
class Hidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensors):
        ctx.save_for_backward(*tensors)
        return sum(x.square().sum() for x in tensors)

    @staticmethod
    def backward(ctx, grad_output):
        return [2 * x * grad_output for x in ctx.saved_tensors]


# --8<-- [end:Hidden]


# --8<-- [start:Listed]
class Listed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, factor, *tensors):
        ctx.factor = factor
        return [factor * x for x in tensors]

    @staticmethod
    def backward(ctx, *grads):
        return None, *(ctx.factor * g for g in grads)


# --8<-- [end:Listed]


# --8<-- [start:Scaled]
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, factor, *tensors):
        ctx.factor = factor
        return tuple(factor * x for x in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return None, *(ctx.factor * g for g in grads)


# --8<-- [end:Scaled]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import TreeNorm, tree_apply

    a = torch.tensor([3.0, 0.0], requires_grad=True)
    b = torch.tensor([[4.0]], requires_grad=True)
    norm = tree_apply(TreeNorm, {"a": a, "rest": [b, None]})
    norm.backward()
    print(norm)
    print(a.grad, b.grad)
    # --8<-- [end:use]


def total():
    # --8<-- [start:total]
    import torch
    from customgrad.functions import tree_norm

    x = torch.tensor([3.0, 4.0], requires_grad=True)
    print(torch.nn.utils.get_total_norm([x]))
    print(tree_norm([x]))
    # --8<-- [end:total]


def hidden():
    # --8<-- [start:hidden]
    import torch
    from customgrad.lessons.functions.pytree import (
        Hidden,
    )

    x = torch.ones(2, requires_grad=True)
    y = Hidden.apply([x])
    loss = y + x.sum()
    loss.backward()
    print(x.grad)
    # --8<-- [end:hidden]


def handed():
    # --8<-- [start:handed]
    import torch
    from customgrad.functions import (
        tree_norm,
    )

    x = torch.ones(2, requires_grad=True)
    y = tree_norm([x]) ** 2
    loss = y + x.sum()
    loss.backward()
    print(x.grad)
    # --8<-- [end:handed]


def listed():
    # --8<-- [start:listed]
    import torch
    from customgrad.lessons.functions.pytree import Listed, Scaled

    x = torch.ones(2, requires_grad=True)
    for function in (Listed, Scaled):
        (y,) = function.apply(10.0, x)
        print(function.__name__, "requires grad:", y.requires_grad)
    # --8<-- [end:listed]


def trees():
    # --8<-- [start:trees]
    import torch
    from customgrad.functions import tree_apply
    from customgrad.lessons.functions.pytree import Scaled

    weight = torch.ones(2, requires_grad=True)
    bias = torch.ones(1, requires_grad=True)
    tree = {"weight": weight, "more": (bias, None)}
    scaled = tree_apply(Scaled, tree, 10.0)
    print(scaled["more"])
    scaled["weight"].sum().backward()
    print(weight.grad, bias.grad)
    # --8<-- [end:trees]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import tree_norm

    x = torch.zeros(2, requires_grad=True)
    tree_norm({"x": x}).backward()
    print(x.grad)
    half = torch.full((4,), 300.0, dtype=torch.float16)
    print(tree_norm([half]), half.square().sum().sqrt())
    # --8<-- [end:conventions]


def refused():
    # --8<-- [start:refused]
    import torch
    from customgrad.functions import tree_norm

    try:
        tree_norm({"a": [torch.ones(2), 1.5]})
    except TypeError as error:
        print(*str(error).split(", got "), sep="\ngot ")
    # --8<-- [end:refused]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import tree_norm

    def count(call):
        """Elements that forward keeps for backward."""
        found = []

        def pack(tensor):
            found.append(tensor.numel())
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call()
        return sum(found)

    x = torch.ones(1000, requires_grad=True)
    y = torch.ones(500, requires_grad=True)
    print("both  ", count(lambda: tree_norm([x, y])))
    print("frozen", count(lambda: tree_norm([x, y.detach()])))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import tree_norm

    x = torch.tensor([3.0, 4.0], requires_grad=True)
    gradients = torch.autograd.grad((x**2).sum(), x, create_graph=True)
    penalty = tree_norm(gradients)
    penalty.backward()
    print(penalty, x.grad)
    # --8<-- [end:twice]


def main():
    use()
    total()
    hidden()
    handed()
    listed()
    trees()
    conventions()
    refused()
    kept()
    twice()


if __name__ == "__main__":
    main()
