# === by the number of axes, AdamW
import torch


def make_optimizer(model, lr, weight_decay):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        if p.ndim <= 1 or name.endswith(".bias"):
            no_decay.append(p)
        else:
            decay.append(p)
    return torch.optim.AdamW(
        [
            {"params": decay, "weight_decay": weight_decay},
            {"params": no_decay, "weight_decay": 0.0},
        ],
        lr=lr,
    )


# === by the kind of the module, SGD with momentum, each parameter a group
import torch.nn as nn
import torch.optim as optim

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)


def make_optimizer(model: nn.Module, lr: float, weight_decay: float) -> optim.Optimizer:
    seen, groups = set(), []
    for module in model.modules():
        for name, param in module.named_parameters(recurse=False):
            if id(param) in seen or not param.requires_grad:
                continue
            seen.add(id(param))
            wd = 0 if isinstance(module, NORMS) or name == "bias" else weight_decay
            groups.append({"params": [param], "weight_decay": wd})
    return optim.SGD(groups, lr=lr, momentum=0.9)


# === by the names of the modules' classes, Adam, the decay as default
import torch


def is_norm(module):
    return "Norm" in type(module).__name__


def make_optimizer(model, lr, weight_decay):
    norm_params = {
        f"{prefix}.{n}" if prefix else n
        for prefix, m in model.named_modules()
        if is_norm(m)
        for n, _ in m.named_parameters(recurse=False)
    }
    named = dict(model.named_parameters())
    skip = {n for n in named if n.endswith("bias") or n in norm_params}
    return torch.optim.Adam(
        [
            {"params": [named[n] for n in named if n not in skip]},
            {"params": [named[n] for n in sorted(skip)], "weight_decay": 0},
        ],
        lr=lr,
        weight_decay=weight_decay,
    )


# === only known weights decay, everything else does not; RMSprop
import torch
from torch import nn


def make_optimizer(model, lr, weight_decay):
    weights = []
    for m in model.modules():
        if isinstance(m, (nn.Linear, nn.modules.conv._ConvNd)):
            if not any(m.weight is w for w in weights):
                weights.append(m.weight)
    chosen = set(map(id, weights))
    rest = [p for p in model.parameters() if id(p) not in chosen]
    optimizer = torch.optim.RMSprop(rest, lr=lr)
    optimizer.add_param_group({"params": weights, "weight_decay": weight_decay})
    return optimizer


# === a dictionary of groups, by dim, frozen ones left in
import collections

import torch


def make_optimizer(model, lr, weight_decay):
    groups = collections.defaultdict(list)
    for p in model.parameters():
        groups[p.dim() >= 2].append(p)
    return torch.optim.AdamW(
        [dict(params=ps, weight_decay=weight_decay * big, lr=lr) for big, ps in groups.items()]
    )
