"""Steps 2 and 3 of custom backprop: a module around the Function, and training with it."""

# --8<-- [start:wrapper]
from customgrad.functions import linear

# --8<-- [end:wrapper]

__all__ = ["linear"]  # what CustomLinear needs besides torch


def message():
    # --8<-- [start:message]
    import torch
    from customgrad.functions import Linear, linear

    X, W = torch.ones(4, 2), torch.ones(2, 3)  # 2 and 3 do not fit
    for function in [Linear.apply, linear]:
        try:
            function(X, W)
        except (RuntimeError, ValueError) as error:
            print(str(error).partition(";")[0])
    # --8<-- [end:message]


def exchange():
    # --8<-- [start:exchange]
    import torch
    from torch import nn
    from customgrad.functions import CustomLinear

    torch.manual_seed(0)
    custom = CustomLinear(3, 2)
    torch.manual_seed(0)
    builtin = nn.Linear(3, 2)
    print(custom)
    print("same start:", torch.equal(custom.weight, builtin.weight))

    other = nn.Linear(3, 2)
    print(custom.load_state_dict(other.state_dict()))
    print(builtin.load_state_dict(custom.state_dict()))
    x = torch.randn(4, 3)
    print("outputs close:", torch.allclose(custom(x), other(x)))
    # --8<-- [end:exchange]


def loop():
    # --8<-- [start:loop]
    import torch
    from customgrad.functions import CustomLinear
    from customgrad.training import regression_data

    # y = 1.5 x1 - 2 x2 + 0.5 x3 + 0.7, and noise
    x, y = regression_data(generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    layer = CustomLinear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step in range(60):
        loss = torch.nn.functional.mse_loss(layer(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2}  loss {loss.item():.3f}")
    print("weight", layer.weight.data)
    print("bias  ", layer.bias.data)
    # --8<-- [end:loop]


def losses():
    # --8<-- [start:losses]
    import torch
    from torch import nn
    from customgrad.functions import CustomLinear
    from customgrad.training import regression_data, train_regression

    x, y = regression_data(generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    custom = CustomLinear(3, 1)
    builtin = nn.Linear(3, 1)
    builtin.load_state_dict(custom.state_dict())

    ours = train_regression(custom, x, y)
    torchs = train_regression(builtin, x, y)
    print("step  custom  nn.Linear")
    for step in range(0, 60, 10):
        print(f"{step:4}  {ours[step]:.3f}   {torchs[step]:.3f}")
    gap = (torch.tensor(ours) - torch.tensor(torchs)).abs().max()
    print("never more than 1e-5 apart:", gap.item() < 1e-5)
    # --8<-- [end:losses]


def proof():
    # --8<-- [start:proof]
    import torch
    from customgrad.functions import CustomLinear, Linear
    from customgrad.training import regression_data, train_regression

    class Halved(Linear):
        calls = 0

        @staticmethod
        def backward(ctx, grad_output):
            Halved.calls += 1
            return Linear.backward(ctx, grad_output / 2)

    class HalvedLinear(CustomLinear):
        def forward(self, input):
            return Halved.apply(input, self.weight, self.bias)

    def train(layer, lr):
        torch.manual_seed(0)
        return train_regression(layer(3, 1), x, y, lr=lr, steps=20)

    x, y = regression_data(generator=torch.Generator().manual_seed(0))
    runs = {
        "right gradient ": train(CustomLinear, lr=0.1),
        "half of it     ": train(HalvedLinear, lr=0.1),
        "right, half lr ": train(CustomLinear, lr=0.05),
    }
    for name, run in runs.items():
        print(name, *(f"{loss:.3f}" for loss in run[::5]))
    print("backward ran", Halved.calls, "times in 20 steps")
    # --8<-- [end:proof]


def main():
    message()
    exchange()
    loop()
    losses()
    proof()


if __name__ == "__main__":
    main()
