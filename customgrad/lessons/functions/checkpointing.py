"""Checkpointing: used, with dropout drawn again and drawn anew, and measured."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Forgetful]
class Forgetful(torch.autograd.Function):
    """Runs again in backward, with whatever is drawn then."""

    @staticmethod
    def forward(ctx, call, x):
        ctx.call = call
        ctx.save_for_backward(x)
        return call(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            again = x.detach().requires_grad_()
            output = ctx.call(again)
        return None, *torch.autograd.grad(output, again, grad_output)


# --8<-- [end:Forgetful]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions.checkpointing import Again, Checkpoint

    def scaled_sine(x, weight):
        return torch.sin(x * weight)

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    weight = torch.tensor(2.0, requires_grad=True)
    y = Checkpoint.apply(Again(scaled_sine), x, weight)
    y.sum().backward()
    print(y)
    print(x.grad, weight.grad)
    # --8<-- [end:use]


def modules():
    # --8<-- [start:modules]
    import torch
    from torch import nn
    from customgrad.functions import checkpointed

    torch.manual_seed(0)
    layers = nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.5), nn.Linear(8, 2)
    block = nn.Sequential(*layers)
    x = torch.randn(3, 4)
    for call in (block, lambda x: checkpointed(block, x)):
        torch.manual_seed(1)
        block.zero_grad()
        call(x).sum().backward()
        print(block[0].weight.grad[0])
    # --8<-- [end:modules]


def forgetful():
    # --8<-- [start:forgetful]
    import torch
    from torch import nn
    from customgrad.lessons.functions import (
        checkpointing as lesson,
    )

    torch.manual_seed(0)
    drop = nn.Dropout(0.5)
    x = torch.ones(6, requires_grad=True)
    y = lesson.Forgetful.apply(drop, x)
    y.sum().backward()
    print(y.tolist())
    print(x.grad.tolist())
    # --8<-- [end:forgetful]


def remembered():
    # --8<-- [start:remembered]
    import torch
    from torch import nn
    from customgrad.functions import (
        checkpointed,
    )

    torch.manual_seed(0)
    drop = nn.Dropout(0.5)
    x = torch.ones(6, requires_grad=True)
    y = checkpointed(drop, x)
    y.sum().backward()
    print(y.tolist())
    print(x.grad.tolist())
    # --8<-- [end:remembered]


def refused():
    # --8<-- [start:refused]
    import torch
    from torch.utils.checkpoint import checkpoint
    from customgrad.functions import checkpointed

    weight = torch.tensor(2.0, requires_grad=True)
    x = torch.tensor(3.0)
    try:
        checkpointed(lambda x: x * weight, x)
    except RuntimeError as error:
        print(*str(error).split(", "), sep=",\n")
    checkpoint(lambda x: x * weight, x, use_reentrant=False).backward()
    print(weight.grad)
    # --8<-- [end:refused]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch import nn
    from customgrad.functions import checkpointed

    def kept(call):
        """Bytes that forward keeps beside the input and parameters."""
        own = {t.data_ptr() for t in [x, *block.parameters()]}
        sizes = {}

        def pack(tensor):
            sizes[tensor.data_ptr()] = tensor.nbytes, tensor
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(x)
        return sum(n for p, (n, _) in sizes.items() if p not in own)

    x = torch.ones(100, 4, requires_grad=True)
    block = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4))
    print("checkpointed", kept(lambda x: checkpointed(block, x)))
    print("plain       ", kept(block))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import checkpointed

    x = torch.tensor(2.0, requires_grad=True)
    y = checkpointed(lambda x: x**3, x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    print(slope.item(), second.item())
    # --8<-- [end:twice]


def main():
    use()
    modules()
    forgetful()
    remembered()
    refused()
    kept()
    twice()


if __name__ == "__main__":
    main()
