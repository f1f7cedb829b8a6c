"""Gumbel-softmax, straight through: a sample, its gradient, and noise that is finite."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import GumbelSoftmaxSTE

    logits = torch.tensor([1.0, 2.0, 0.0], requires_grad=True)
    noise = torch.tensor([0.5, -1.0, 0.2])
    hard, soft = GumbelSoftmaxSTE.apply(logits, noise, 1.0, -1)
    hard.backward(torch.tensor([1.0, 0.0, 0.0]))
    print(hard.data, soft.data)
    print(logits.grad)
    # --8<-- [end:use]


def drawn():
    # --8<-- [start:drawn]
    import torch
    from customgrad.functions import gumbel_softmax_ste

    generator = torch.Generator().manual_seed(0)
    p = torch.tensor([0.6, 0.3, 0.1])
    logits = p.log().expand(100_000, 3)
    y = gumbel_softmax_ste(logits, generator=generator)
    print([round(f, 2) for f in y.mean(0).tolist()])
    # --8<-- [end:drawn]


def argmax():
    # --8<-- [start:argmax]
    import torch
    from torch.nn import functional as F

    logits = torch.tensor([1.0, 2.0, 0.0])
    logits.requires_grad_()
    index = logits.argmax()
    y = F.one_hot(index, 3).float()
    cost = torch.tensor([1.0, 5.0, 2.0])
    loss = (y * cost).sum()
    print(loss.item(), loss.requires_grad)
    # --8<-- [end:argmax]


def chosen():
    # --8<-- [start:chosen]
    import torch
    from customgrad.functions import (
        gumbel_softmax_ste,
    )

    logits = torch.tensor([1.0, 2.0, 0.0])
    logits.requires_grad_()
    noise = torch.zeros(3)
    y = gumbel_softmax_ste(logits, noise)
    cost = torch.tensor([1.0, 5.0, 2.0])
    loss = (y * cost).sum()
    loss.backward()
    print(loss.item(), logits.grad)
    # --8<-- [end:chosen]


def infinite():
    # --8<-- [start:infinite]
    import torch

    torch.manual_seed(0)
    logits = torch.tensor([20.0, 0.0])
    logits = logits.bfloat16()
    logits = logits.expand(10**5, 2)
    u = torch.rand_like(logits)
    noise = -torch.log(-torch.log(u))
    index = (logits + noise).argmax(-1)
    share = index.double().mean().item()
    print("inf:", noise.isinf().any().item())
    print(f"share {share:.3f}")
    # --8<-- [end:infinite]


def finite():
    # --8<-- [start:finite]
    import torch
    from customgrad.functions import (
        gumbel_softmax_ste,
    )

    torch.manual_seed(0)
    logits = torch.tensor([20.0, 0.0])
    logits = logits.bfloat16()
    logits = logits.expand(10**5, 2)
    y = gumbel_softmax_ste(logits)
    share = y[:, 1].double().mean().item()
    print("nan:", y.isnan().any().item())
    print(f"share {share:.3f}")
    # --8<-- [end:finite]


def special():
    # --8<-- [start:special]
    import torch
    from customgrad.functions import gumbel_softmax_ste

    inf, nan = torch.inf, torch.nan
    tie, mask = [0.0, 0.0, -1.0], [-inf, 1.0, -inf]
    bad, none = [0.0, nan, 1.0], [-inf, -inf, -inf]
    logits = torch.tensor([tie, mask, bad, none])
    print(gumbel_softmax_ste(logits, torch.zeros(4, 3)))
    # --8<-- [end:special]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import gumbel_softmax_ste

    def kept(call, n=1000):
        """Bytes per element that forward keeps for backward."""
        sizes = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
            return tensor

        hooks = torch.autograd.graph.saved_tensors_hooks
        with hooks(pack, lambda tensor: tensor):
            call(torch.ones(n, requires_grad=True))
        return sum(sizes.values()) / n

    print("gumbel_softmax_ste", kept(gumbel_softmax_ste), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import gumbel_softmax_ste

    cost = torch.tensor([1.0, 5.0, 2.0])
    for call in (
        lambda x: gumbel_softmax_ste(x, torch.zeros(3)),
        lambda x: torch.softmax(x, -1),
    ):
        logits = torch.tensor([1.0, 2.0, 0.0], requires_grad=True)
        loss = (call(logits) * cost).sum()
        (first,) = torch.autograd.grad(loss, logits, create_graph=True)
        (second,) = torch.autograd.grad(first[0], logits)
        print(first.data, second)
    # --8<-- [end:twice]


def main():
    use()
    argmax()
    chosen()
    drawn()
    infinite()
    finite()
    special()
    kept()
    twice()


if __name__ == "__main__":
    main()
