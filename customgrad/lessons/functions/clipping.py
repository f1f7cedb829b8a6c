"""Gradient clipping: by value and by norm, what is not linear about it, and a norm that would overflow."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import ClipGradientNorm, ClipGradientValue

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    g = torch.tensor([0.0, 3.0, -4.0])
    for call in (ClipGradientValue.apply, ClipGradientNorm.apply):
        y = call(x, 1.0)
        print(torch.autograd.grad(y, x, g)[0])
    # --8<-- [end:use]


def parts():
    # --8<-- [start:parts]
    import torch
    from customgrad.functions import (
        clip_gradient_value,
    )

    x = torch.tensor(0.0)
    x.requires_grad_()
    y = clip_gradient_value(x, limit=1.0)
    losses = [3 * y, 5 * y]
    for loss in losses:
        loss.backward(retain_graph=True)
    print(x.grad.item())
    # --8<-- [end:parts]


def whole():
    # --8<-- [start:whole]
    import torch
    from customgrad.functions import (
        clip_gradient_value,
    )

    x = torch.tensor(0.0)
    x.requires_grad_()
    y = clip_gradient_value(x, limit=1.0)
    losses = [3 * y, 5 * y]
    loss = sum(losses)
    loss.backward()
    print(x.grad.item())
    # --8<-- [end:whole]


def large():
    # --8<-- [start:large]
    import torch
    from customgrad.functions import clip_gradient_norm

    def cut(grad):
        return grad * (1 / grad.norm()).clamp(max=1)

    x = torch.zeros(2, requires_grad=True)
    hooked = x.view_as(x)
    hooked.register_hook(cut)
    for size in (1.0, 1e20):
        g = size * torch.tensor([3.0, -4.0])
        for y in (hooked, clip_gradient_norm(x, max_norm=1.0)):
            (grad,) = torch.autograd.grad(y, x, g, retain_graph=True)
            print(f"{size:.0e}", grad)
    # --8<-- [end:large]


def special():
    # --8<-- [start:special]
    import torch
    from customgrad.functions import clip_gradient_norm, clip_gradient_value

    x = torch.zeros(2, requires_grad=True)
    for bad in (torch.inf, torch.nan):
        g = torch.tensor([2.0, bad])
        for y in (
            clip_gradient_value(x, limit=1.0),
            clip_gradient_norm(x, max_norm=1.0),
        ):
            print(bad, torch.autograd.grad(y, x, g)[0])
    # --8<-- [end:special]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import clip_gradient_norm, clip_gradient_value

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

    print(count(lambda x: clip_gradient_value(x, limit=1.0)))
    print(count(lambda x: clip_gradient_norm(x, max_norm=1.0)))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import clip_gradient_value

    for start in (0.5, 2.0):
        x = torch.tensor(start, requires_grad=True)
        y = clip_gradient_value(x, limit=5.0) ** 3
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(slope, x)
        print(f"x {start}  slope {slope.item()}  second {second.item()}")
    # --8<-- [end:twice]


def samples():
    # --8<-- [start:samples]
    import torch
    from customgrad.functions import clip_gradient_norm

    def loss(w, x):
        return (clip_gradient_norm(w, max_norm=1.0) * x).sum()

    w = torch.zeros(2)
    batch = torch.tensor([[3.0, 0.0], [0.0, 4.0]])
    grad = torch.func.grad(loss)
    each = torch.func.vmap(grad, (None, 0))(w, batch)
    print("each sample", each.tolist())
    print("their sum  ", each.sum(0).tolist())
    together = grad(w, batch.sum(0))
    print("one loss   ", [round(v, 4) for v in together.tolist()])
    # --8<-- [end:samples]


def main():
    use()
    parts()
    whole()
    large()
    special()
    kept()
    twice()
    samples()


if __name__ == "__main__":
    main()
