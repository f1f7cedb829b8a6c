"""A reversible chain: used, its hidden parameters, its memory, and how well its inputs come back."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Hidden]
class Hidden(torch.autograd.Function):
    """One step; the parameters of f are hidden in f."""

    @staticmethod
    def forward(ctx, f, a, b):
        total = a + f(b)
        ctx.f = f
        ctx.save_for_backward(b)
        return total

    @staticmethod
    def backward(ctx, grad_output):
        (b,) = ctx.saved_tensors
        with torch.enable_grad():
            x = b.detach().requires_grad_()
            output = ctx.f(x)
        grad_b = torch.autograd.grad(output, x, grad_output)[0]
        return None, grad_output, grad_b


# --8<-- [end:Hidden]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions.reversible import Reversible, Step

    def f(x, weight):
        return torch.tanh(x * weight)

    x1 = torch.tensor([1.0, 2.0], requires_grad=True)
    x2 = torch.tensor([0.0, 0.5], requires_grad=True)
    weight = torch.tensor(2.0, requires_grad=True)
    steps = Step(f, 1), Step(torch.sin)
    y1, y2 = Reversible.apply(steps, x1, x2, weight)
    (y1 + y2).sum().backward()
    print(y1.detach(), y2.detach())
    print(x1.grad, x2.grad, weight.grad)
    # --8<-- [end:use]


def modules():
    # --8<-- [start:modules]
    import torch
    from torch import nn
    from customgrad.functions import reversible

    def half():
        layers = nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4)
        return nn.Sequential(*layers, nn.Dropout(0.5))

    def plain(x1, x2):
        for f, g in blocks:
            x1 = x1 + f(x2)
            x2 = x2 + g(x1)
        return x1, x2

    torch.manual_seed(0)
    blocks = [(half(), half()) for _ in range(3)]
    x1, x2 = torch.randn(2, 5, 4)
    weight = blocks[0][0][0].weight
    for call in (plain, lambda *x: reversible(*x, blocks)):
        torch.manual_seed(1)
        y1, y2 = call(x1, x2)
        (grad,) = torch.autograd.grad((y1 * y2).sum(), weight)
        print(grad[0])
    # --8<-- [end:modules]


def hidden():
    # --8<-- [start:hidden]
    import torch
    from torch import nn
    from customgrad.lessons.functions import (
        reversible as lesson,
    )

    f = nn.Linear(2, 2)
    x = torch.ones(2, requires_grad=True)
    y = lesson.Hidden.apply(f, x, x)
    y.sum().backward()
    print(f.bias.grad)
    # --8<-- [end:hidden]


def given():
    # --8<-- [start:given]
    import torch
    from torch import nn
    from customgrad.functions import (
        reversible,
    )

    f = nn.Linear(2, 2)
    x = torch.ones(2, requires_grad=True)
    y = reversible(x, x, [(f, torch.sin)])
    y[0].sum().backward()
    print(f.bias.grad)
    # --8<-- [end:given]


def refused():
    # --8<-- [start:refused]
    import torch
    from customgrad.functions import reversible

    weight = torch.ones(2, requires_grad=True)
    x = torch.ones(2)
    try:
        reversible(x, x, [(lambda x: x * weight, torch.sin)])
    except RuntimeError as error:
        print(*str(error).split(", ", 1), sep=",\n")
    # --8<-- [end:refused]


def error():
    # --8<-- [start:error]
    import torch

    torch.manual_seed(0)
    weights = torch.randn(128, 32, 32, dtype=torch.float64) / 6
    start = torch.randn(2, 1000, 32, dtype=torch.float64)

    def magnitude(error):
        """The power of ten next to the largest error."""
        return round(error.abs().max().log10().item())

    for dtype in (torch.float32, torch.float64):
        for blocks in (4, 64):
            chain = weights[: 2 * blocks].to(dtype)
            a, b = start.to(dtype)
            for w in chain:
                a, b = b, a + torch.tanh(b @ w)
            for w in chain.flip(0):
                a, b = b - torch.tanh(a @ w), a
            far = magnitude(torch.stack([a, b]) - start.to(dtype))
            print(dtype, blocks, f"blocks: about 1e{far}")
    # --8<-- [end:error]


def kept():
    # --8<-- [start:kept]
    import torch
    from torch import nn
    from customgrad.functions import reversible

    def kept(call, *inputs):
        """Bytes that forward keeps beside parameters and inputs."""
        own = {t.data_ptr() for t in [*inputs, *parameters]}
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes(), tensor
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(*inputs)
        return sum(n for p, (n, _) in sizes.items() if p not in own)

    def half():
        return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

    def plain(x1, x2):
        for f, g in blocks:
            x1 = x1 + f(x2)
            x2 = x2 + g(x1)
        return x1, x2

    def chain(x1, x2):
        return reversible(x1, x2, blocks)

    x1, x2 = torch.ones(2, 100, 8).requires_grad_().unbind()
    for count in (1, 4, 16):
        halves = nn.ModuleList(half() for _ in range(2 * count))
        blocks = list(zip(halves[::2], halves[1::2], strict=True))
        parameters = list(halves.parameters())
        ours = kept(chain, x1, x2)
        print(f"{count:2} blocks: {ours}, plain: {kept(plain, x1, x2)}")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import reversible

    x1 = torch.tensor(1.0, requires_grad=True)
    x2 = torch.tensor(2.0, requires_grad=True)
    blocks = [(torch.square, torch.square)]
    _, y2 = reversible(x1, x2, blocks)
    (slope,) = torch.autograd.grad(y2, x2, create_graph=True)
    (second,) = torch.autograd.grad(slope, x2)
    print(slope.item(), second.item())
    # --8<-- [end:twice]


def main():
    use()
    modules()
    hidden()
    given()
    refused()
    error()
    kept()
    twice()


if __name__ == "__main__":
    main()
