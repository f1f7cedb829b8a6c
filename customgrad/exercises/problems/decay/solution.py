"""The weight decay exercise, solved."""

# --8<-- [start:solution]
import torch
from torch import nn


def make_optimizer(model, lr, weight_decay):
    norms = (
        nn.modules.batchnorm._NormBase,
        nn.LayerNorm,
        nn.GroupNorm,
    )
    plain = set()
    for module in model.modules():
        for name, p in module.named_parameters(recurse=False):
            if isinstance(module, norms) or name.endswith("bias"):
                plain.add(p)
    decayed = [p for p in model.parameters() if p not in plain]
    kept = [p for p in model.parameters() if p in plain]
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": kept, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=lr)


# --8<-- [end:solution]
