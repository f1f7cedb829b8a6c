"""Gradients that are not the derivative: clipped, reversed, straight through."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:Clip]
class Clip(torch.autograd.Function):
    """x; its gradient is cut off at ±limit."""

    @staticmethod
    def forward(x, limit):
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.limit = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(-ctx.limit, ctx.limit), None


# --8<-- [end:Clip]


# --8<-- [start:Reverse]
class Reverse(torch.autograd.Function):
    """x; its gradient changes sign."""

    @staticmethod
    def forward(x):
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return -grad_output


# --8<-- [end:Reverse]


# --8<-- [start:Round]
class Round(torch.autograd.Function):
    """round(x); its gradient passes straight through."""

    @staticmethod
    def forward(x):
        return torch.round(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# --8<-- [end:Round]


def three():
    # --8<-- [start:three]
    import torch
    from customgrad.lessons.backprop.rewritten import Clip, Reverse, Round

    x = torch.tensor([-1.6, 0.4, 2.7], requires_grad=True)
    G = torch.tensor([0.5, 3.0, -9.0])
    for name, y in [
        ("Clip   ", Clip.apply(x, 1.0)),
        ("Reverse", Reverse.apply(x)),
        ("Round  ", Round.apply(x)),
    ]:
        (grad,) = torch.autograd.grad(y, x, G)
        print(name, y.data)
        print("  grad ", grad)
    # --8<-- [end:three]


def disagree():
    # --8<-- [start:disagree]
    import torch
    from customgrad.lessons.backprop.rewritten import Clip, Reverse, Round
    from torch.autograd import gradcheck

    x = torch.tensor([0.4, 1.7], dtype=torch.float64, requires_grad=True)

    def holds(function, *inputs):
        return gradcheck(function.apply, inputs, raise_exception=False)

    print("Reverse  ", holds(Reverse, x))
    print("Clip 0.5 ", holds(Clip, x, 0.5))
    print("Clip 1.0 ", holds(Clip, x, 1.0))
    try:
        gradcheck(Round.apply, (x,))
    except RuntimeError as error:
        print("Round    ", type(error).__name__)
        print(str(error).strip())
    # --8<-- [end:disagree]


def scaled():
    # --8<-- [start:scaled]
    import torch
    from customgrad.lessons.backprop.rewritten import Clip

    for weight in [0.5, 1.0, 2.0, 4.0]:
        x = torch.tensor(1.0, requires_grad=True)
        loss = weight * Clip.apply(x, 1.0)
        loss.backward()
        print("weight", weight, " gradient", x.grad.item())
    # --8<-- [end:scaled]


def outlier():
    # --8<-- [start:outlier]
    import torch
    from customgrad.lessons.backprop.rewritten import Clip

    values = torch.tensor([1.0, 2.0, 3.0, 100.0])
    for clipped in [False, True]:
        centre = torch.tensor(0.0, requires_grad=True)
        optimizer = torch.optim.SGD([centre], lr=0.1)
        for _ in range(400):
            guess = centre.expand(4)  # the same guess for each value
            if clipped:
                guess = Clip.apply(guess, 1.0)
            loss = 0.5 * (guess - values).square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("clipped" if clipped else "plain  ", f"{centre.item():.3f}")
    # --8<-- [end:outlier]


def through():
    # --8<-- [start:through]
    import torch
    from customgrad.lessons.backprop.rewritten import Round

    choices = {"torch.round": torch.round, "Round": Round.apply}
    for name, rounded in choices.items():
        w = torch.tensor(0.2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        losses = []
        for _ in range(10):
            loss = (rounded(w) - 3).square()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(round(loss.item()))
        print(f"{name:11}", losses)
    # --8<-- [end:through]


def forget():
    # --8<-- [start:forget]
    import torch
    from customgrad.lessons.backprop.rewritten import Reverse

    # Four examples: (what the label is, which source they came from).
    x = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    label, source = x.T
    for reverse in [False, True]:
        w = torch.ones(2, requires_grad=True)  # makes the feature
        a = torch.ones(1, requires_grad=True)  # guesses the source from it
        optimizer = torch.optim.SGD([w, a], lr=0.1)
        for _ in range(100):
            feature = x @ w
            seen = Reverse.apply(feature) if reverse else feature
            guess = a * seen
            loss = (feature - label).square().mean()
            loss = loss + 2 * (guess - source).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("reversed" if reverse else "plain   ", end="  ")
        print("label {:.2f}  source {:.2f}".format(*w.detach().abs()))
    # --8<-- [end:forget]


def hooks():
    # --8<-- [start:hooks]
    import torch

    G = torch.tensor([0.5, 3.0, -9.0])
    changes = {
        "clip    ": lambda grad: grad.clamp(-1, 1),
        "reverse ": lambda grad: -grad,
    }
    for name, change in changes.items():
        x = torch.tensor([-1.6, 0.4, 2.7], requires_grad=True)
        y = x.view_as(x)
        y.register_hook(change)
        y.backward(G)
        print(name, x.grad)

    x = torch.tensor([-1.6, 0.4, 2.7], requires_grad=True)
    y = x + (torch.round(x) - x).detach()
    y.backward(G)
    print("straight", x.grad)
    # --8<-- [end:hooks]


def main():
    three()
    disagree()
    scaled()
    outlier()
    through()
    forget()
    hooks()


if __name__ == "__main__":
    main()
