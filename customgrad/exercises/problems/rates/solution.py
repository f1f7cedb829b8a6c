"""The layers' rates exercise, solved."""

# --8<-- [start:solution]
import torch


def by_layer(model, lr, factor):
    layers = [
        list(child.parameters())
        for child in model.children()
        if any(True for _ in child.parameters())
    ]
    groups = []
    rate = lr
    for params in reversed(layers):
        groups.append({"params": params, "lr": rate})
        rate = rate * factor
    return torch.optim.SGD(groups, lr=lr)


# --8<-- [end:solution]
