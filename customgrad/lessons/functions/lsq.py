"""LSQ: used, compared with a quantiser without the straight-through term, and trained."""


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import LSQ

    x = torch.tensor([-3.0, -0.6, 0.2, 0.9, 5.0], requires_grad=True)
    step = torch.tensor(0.5, requires_grad=True)
    y = LSQ.apply(x, step, -2, 3, 1.0)
    y.sum().backward()
    print(y)
    print(x.grad)
    print(step.grad)
    # --8<-- [end:use]


def plain():
    # --8<-- [start:plain]
    import torch

    x = torch.tensor([0.9, -0.6])
    step = torch.tensor(0.5)
    x.requires_grad_()
    step.requires_grad_()
    q = (x / step).clamp(-2, 3).round()
    (q * step).sum().backward()
    print("step ", f"{step.grad:.2f}")
    print("input", x.grad.tolist())
    # --8<-- [end:plain]


def learned():
    # --8<-- [start:learned]
    import torch
    from customgrad.functions import lsq

    x = torch.tensor([0.9, -0.6])
    step = torch.tensor(0.5)
    x.requires_grad_()
    step.requires_grad_()
    y = lsq(x, step, qmin=-2, qmax=3)
    y.sum().backward()
    print("step ", f"{step.grad:.2f}")
    print("input", x.grad.tolist())
    # --8<-- [end:learned]


def train():
    # --8<-- [start:train]
    import math
    import torch
    from customgrad.functions import lsq

    torch.manual_seed(0)
    weight = torch.randn(64, 64)
    qmax = 7
    scale = 1 / math.sqrt(weight.numel() * qmax)
    step = (2 * weight.abs().mean() / math.sqrt(qmax)).requires_grad_()
    sgd = torch.optim.SGD([step], lr=0.01)
    for n in range(301):
        y = lsq(weight, step, qmin=-8, qmax=qmax, gradient_scale=scale)
        loss = (y - weight).square().sum()
        if n % 100 == 0:
            error = loss.item() / y.numel()
            print(f"step {step.item():.2f}  error {error:.3f}")
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    # --8<-- [end:train]


def channels():
    # --8<-- [start:channels]
    import torch
    from customgrad.functions import lsq

    weight = torch.tensor([[0.1, -0.25, 0.3], [1.0, -2.5, 3.0]])
    step = torch.tensor([[0.1], [1.0]], requires_grad=True)
    y = lsq(weight, step, qmin=-2, qmax=3)
    y.sum().backward()
    print(y.detach())
    print(step.grad)
    # --8<-- [end:channels]


def bounds():
    # --8<-- [start:bounds]
    import torch
    from customgrad.functions import lsq

    inf, nan = torch.inf, torch.nan
    for value in (0.5, 2.0, 2.5, inf, nan):
        x = torch.tensor(value, requires_grad=True)
        step = torch.tensor(1.0, requires_grad=True)
        y = lsq(x, step, qmin=-2, qmax=2)
        y.backward()
        print(value, "→", y.item(), x.grad.item(), step.grad.item())
    try:
        lsq(x, -step, qmin=-2, qmax=2)
    except ValueError as error:
        print(str(error).split(";")[0])
    # --8<-- [end:bounds]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import lsq

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
        return round(sum(sizes.values()) / n)

    step = torch.tensor(0.5, requires_grad=True)

    def composed(x):
        v = (x / step).clamp(-2, 3)
        return (v + (v.round() - v).detach()) * step

    def ours(x):
        return lsq(x, step, qmin=-2, qmax=3)

    print("lsq     ", kept(ours), "bytes")
    print("composed", kept(composed), "bytes")
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import lsq

    x = torch.tensor(0.9, requires_grad=True)
    step = torch.tensor(0.5, requires_grad=True)
    y = lsq(x, step, qmin=-2, qmax=3)
    (slope,) = torch.autograd.grad(y, step, create_graph=True)
    print(f"{slope.item():.2f}")
    for second in torch.autograd.grad(slope, (x, step)):
        print(f"{second.item():.2f}")
    # --8<-- [end:twice]


def main():
    use()
    plain()
    learned()
    train()
    channels()
    bounds()
    kept()
    twice()


if __name__ == "__main__":
    main()
