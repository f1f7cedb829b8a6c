"""Cross-entropy on logits: used, in bfloat16, measured, and differentiated twice."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import CrossEntropy

    logits = torch.tensor([[2.0, 1.0, 0.0], [0, 0, 9], [0, 0, 0]])
    logits.requires_grad_()
    target = torch.tensor([0, -100, 1])
    loss, _ = CrossEntropy.apply(logits, target)
    loss.backward()
    print(f"{loss.item():.4f}")
    print(logits.grad)
    # --8<-- [end:use]


def subtracted():
    # --8<-- [start:subtracted]
    import torch

    logits = torch.tensor([[8.0, 0.0]])
    logits = logits.to(torch.bfloat16)
    grad = logits.softmax(1)
    grad[0, 0] -= 1
    print(f"{grad[0, 0].item():.5f}")
    # --8<-- [end:subtracted]


def kept_digits():
    # --8<-- [start:digits]
    import torch
    from customgrad.functions import cross_entropy

    logits = torch.tensor([[8.0, 0.0]])
    logits = logits.to(torch.bfloat16)
    logits.requires_grad_()
    y = torch.tensor([0])
    cross_entropy(logits, y).backward()
    print(f"{logits.grad[0, 0].item():.5f}")
    # --8<-- [end:digits]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import cross_entropy

    inf = torch.inf
    for call in (cross_entropy, F.cross_entropy):
        logits = torch.tensor([[0.0, -inf], [0.0, inf]], requires_grad=True)
        loss = call(logits, torch.tensor([1, 0]), reduction="none")
        loss.sum().backward()
        print(loss.tolist(), logits.grad.tolist())
        ignored = torch.tensor([-100, -100])
        print(call(logits, ignored).item())
    # --8<-- [end:conventions]


def peaks():
    # --8<-- [start:peaks]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import cross_entropy

    logits = torch.randn(256, 4096, requires_grad=True)
    target = torch.randint(0, 4096, (256,))

    def peak(call):
        """The most that is allocated at a time, in logits."""
        with torch.profiler.profile(profile_memory=True) as profile:
            torch.autograd.grad(call(logits, target), logits)
        now = most = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                now += event.nbytes()
                most = max(most, now)
        return most / (4 * logits.numel())

    print(f"F.cross_entropy {peak(F.cross_entropy):.1f}")
    print(f"cross_entropy   {peak(cross_entropy):.1f}")
    # --8<-- [end:peaks]


def twice():
    # --8<-- [start:twice]
    import torch
    from torch.nn import functional as F
    from customgrad.functions import cross_entropy

    target = torch.tensor([0])
    for call in (cross_entropy, F.cross_entropy):
        logits = torch.tensor([[2.0, 1.0, 0.0]], requires_grad=True)
        loss = call(logits, target)
        (g,) = torch.autograd.grad(loss, logits, create_graph=True)
        g.square().sum().backward()
        print(logits.grad)
    # --8<-- [end:twice]


def main():
    use()
    subtracted()
    kept_digits()
    conventions()
    peaks()
    twice()


if __name__ == "__main__":
    main()
