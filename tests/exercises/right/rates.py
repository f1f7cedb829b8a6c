# === powers counted from the end, AdamW
import torch


def by_layer(model, lr, factor):
    layers = [c for c in model.children() if list(c.parameters())]
    n = len(layers)
    return torch.optim.AdamW(
        [
            {"params": layer.parameters(), "lr": lr * factor ** (n - 1 - i)}
            for i, layer in enumerate(layers)
        ],
        lr=lr,
    )


# === groups added one by one
import torch


def by_layer(model, lr, factor):
    children = list(model.children())[::-1]
    optimizer = None
    k = 0
    for child in children:
        params = list(child.parameters())
        if not params:
            continue
        if optimizer is None:
            optimizer = torch.optim.Adam(params, lr=lr)
        else:
            optimizer.add_param_group({"params": params, "lr": lr * factor**k})
        k += 1
    return optimizer


# === each parameter a group, by the name's first part
import torch


def by_layer(model, lr, factor):
    names = []
    for name, _ in model.named_parameters():
        top = name.split(".")[0]
        if top not in names:
            names.append(top)
    names.reverse()
    groups = [
        dict(params=[p], lr=lr * pow(factor, names.index(name.split(".")[0])))
        for name, p in model.named_parameters()
    ]
    return torch.optim.SGD(groups, lr=lr, momentum=0.9)
