"""The frozen backbone exercise, solved."""

# --8<-- [start:solution]
import torch
from torch.nn import functional as F


def train_head(model, batches, lr):
    model.backbone.requires_grad_(False)
    model.backbone.eval()
    model.head.train()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr)
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# --8<-- [end:solution]
