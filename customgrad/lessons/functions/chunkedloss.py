"""A linear layer's cross-entropy in chunks: used, measured, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import LinearCrossEntropy

    torch.manual_seed(0)
    x = torch.randn(4, 2, requires_grad=True)
    weight = torch.randn(3, 2, requires_grad=True)
    target = torch.tensor([0, 2, -100, 1])
    loss, *_ = LinearCrossEntropy.apply(x, weight, target)
    loss.backward()
    print(f"{loss.item():.3f}")
    print(x.grad)
    # --8<-- [end:use]


def counted():
    # --8<-- [start:counted]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import linear_cross_entropy

    rows, size, classes = 1024, 16, 4096
    x = torch.randn(rows, size, requires_grad=True)
    weight = torch.randn(classes, size, requires_grad=True)
    target = torch.randint(0, classes, (rows,))

    def peak(call):
        """The most that is allocated at a time, in logits."""
        with torch.profiler.profile(profile_memory=True) as profile:
            call(x, weight, target).backward()
        now = most = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                now += event.nbytes()
                most = max(most, now)
        return most / (4 * rows * classes)

    def composed(x, weight, target):
        return F.cross_entropy(F.linear(x, weight), target)

    print(f"composed {peak(composed):.1f}")
    print(f"chunked  {peak(linear_cross_entropy):.1f}")
    # --8<-- [end:counted]


def averaged():
    # --8<-- [start:averaged]
    import torch
    from torch.nn import functional as F

    torch.manual_seed(0)
    x = torch.randn(4, 2)
    weight = torch.randn(3, 2)
    target = torch.tensor([0, 2, -100, 1])

    losses = []
    for rows in (slice(0, 2), slice(2, 4)):
        z = F.linear(x[rows], weight)
        y = target[rows]
        losses.append(F.cross_entropy(z, y))
    loss = sum(losses) / 2
    print(f"{loss:.3f}")
    # --8<-- [end:averaged]


def counting():
    # --8<-- [start:counting]
    import torch
    from customgrad.functions import (
        linear_cross_entropy,
    )

    torch.manual_seed(0)
    x = torch.randn(4, 2)
    weight = torch.randn(3, 2)
    target = torch.tensor([0, 2, -100, 1])

    loss = linear_cross_entropy(x, weight, target, chunk=2)

    print(f"{loss:.3f}")
    # --8<-- [end:counting]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import linear_cross_entropy

    x = torch.ones(2, 3, requires_grad=True)
    weight = torch.ones(5, 3)
    ignored = torch.tensor([-100, -100])
    loss = linear_cross_entropy(x, weight, ignored)
    loss.backward()
    print(loss.item(), x.grad.abs().max().item())
    try:
        linear_cross_entropy(x, weight, torch.tensor([4, 5]))
    except ValueError as error:
        print(*str(error).split(", "), sep="\n")
    # --8<-- [end:conventions]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import linear_cross_entropy

    torch.manual_seed(0)
    weight = torch.randn(3, 2)
    target = torch.tensor([0, 2])

    def composed(x, weight, target):
        return F.cross_entropy(F.linear(x, weight), target)

    values = torch.randn(2, 2)
    for call in (linear_cross_entropy, composed):
        x = values.clone().requires_grad_()
        loss = call(x, weight, target)
        (g,) = torch.autograd.grad(loss, x, create_graph=True)
        g.square().sum().backward()
        print(x.grad)
    # --8<-- [end:twice]


def main():
    use()
    averaged()
    counting()
    conventions()
    counted()
    twice()


if __name__ == "__main__":
    main()
