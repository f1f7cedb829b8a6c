# === freeze by a loop, Adam, everything in eval but the head
import torch
import torch.nn as nn


def train_head(model, batches, lr):
    for p in model.backbone.parameters():
        p.requires_grad = False
    model.train()
    model.backbone.eval()

    optimizer = torch.optim.Adam(model.head.parameters(), lr=lr)
    criterion = nn.MSELoss()
    history = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return history


# === features under no_grad, nothing frozen otherwise
import torch
import torch.nn.functional as F


def train_head(model, batches, lr):
    was_training = model.backbone.training
    model.backbone.eval()
    opt = torch.optim.SGD(model.head.parameters(), lr=lr, momentum=0.9)
    for x, y in batches:
        with torch.no_grad():
            features = model.backbone(x)
        loss = F.cross_entropy(model.head(features), y)
        opt.zero_grad(set_to_none=False)
        loss.backward()
        opt.step()
    model.backbone.train(was_training)
    return model


# === only the BatchNorm layers in eval, the optimizer has all that needs a gradient; two epochs
import torch
from torch import nn


def train_head(model: nn.Module, batches, lr: float, epochs: int = 2) -> None:
    model.train()
    for module in model.backbone.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.eval()
    model.backbone.requires_grad_(False)
    opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=lr)
    for _ in range(epochs):
        for x, y in batches:
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            opt.step()
            opt.zero_grad()


# === no optimizer: the step by hand, gradients from autograd.grad
import torch


def train_head(model, batches, lr):
    model.eval()
    params = list(model.head.parameters())
    for x, y in batches:
        with torch.no_grad():
            z = model.backbone(x)
        loss = torch.nn.functional.mse_loss(model.head(z), y)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p -= lr * g


# === features computed once for all batches, then several passes over them
import torch
from torch.nn import functional as F


@torch.no_grad()
def features(backbone, batches):
    backbone.eval()
    return [(backbone(x).detach(), y) for x, y in batches]


def train_head(model, batches, lr):
    prepared = features(model.backbone, batches)
    optimizer = torch.optim.SGD(model.head.parameters(), lr)
    for epoch in range(3):
        for z, y in prepared:
            optimizer.zero_grad()
            F.mse_loss(model.head(z), y).backward()
            optimizer.step()
    return model.head
