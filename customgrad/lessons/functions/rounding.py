"""Rounding, straight through: used in a small quantiser, and compared with what autograd does."""

# --8<-- [start:base]
import torch
from customgrad.functions import RoundSTE

# --8<-- [end:base]


def use():
    # --8<-- [start:use]
    import torch
    from customgrad.functions import RoundSTE

    x = torch.tensor([-1.6, 0.4, 0.5, 1.5], requires_grad=True)
    y = RoundSTE.apply(x)
    y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    print(y)
    print(x.grad)
    # --8<-- [end:use]


def plain():
    # --8<-- [start:plain]
    import torch

    scale = torch.tensor(0.3)
    scale.requires_grad_()
    y = 0.1 * torch.round(scale / 0.1)
    (y - 1).square().backward()
    grad = scale.grad.item()
    print(f"gradient {grad:.2f}")
    # --8<-- [end:plain]


def through():
    # --8<-- [start:through]
    import torch
    from customgrad.functions import round_ste

    scale = torch.tensor(0.3)
    scale.requires_grad_()
    y = 0.1 * round_ste(scale / 0.1)
    (y - 1).square().backward()
    grad = scale.grad.item()
    print(f"gradient {grad:.2f}")
    # --8<-- [end:through]


def refused():
    # --8<-- [start:refused]
    import torch
    from torch.autograd import gradcheck
    from customgrad.functions import round_ste

    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    print(gradcheck(round_ste, x, raise_exception=False))
    # --8<-- [end:refused]


def conventions():
    # --8<-- [start:conventions]
    import torch
    from customgrad.functions import round_ste

    inf, nan = torch.inf, torch.nan
    x = torch.tensor([-inf, -0.4, 2.5, inf, nan], requires_grad=True)
    y = round_ste(x)
    y.sum().backward()
    print(y.tolist())
    print(x.grad.tolist())
    # --8<-- [end:conventions]


def kept():
    # --8<-- [start:kept]
    import torch
    from customgrad.functions import round_ste

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

    print("round_ste kept:", count(round_ste))
    # --8<-- [end:kept]


def twice():
    # --8<-- [start:twice]
    import torch
    from customgrad.functions import round_ste

    x = torch.tensor(1.3, requires_grad=True)
    y = round_ste(x) ** 3
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    print(slope.item(), second.item())
    # --8<-- [end:twice]


def forward():
    # --8<-- [start:forward]
    import torch
    from customgrad.functions import RoundSTEForwardMode

    x = torch.tensor([-1.6, 0.4])
    tangent = torch.tensor([1.0, 10.0])
    call = RoundSTEForwardMode.apply
    print(torch.func.jvp(call, (x,), (tangent,)))
    # --8<-- [end:forward]


def main():
    use()
    plain()
    through()
    refused()
    conventions()
    kept()
    twice()
    forward()


if __name__ == "__main__":
    main()
