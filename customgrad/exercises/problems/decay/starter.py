"""The starter of the exercise decay, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch
from torch import nn


def make_optimizer(model, lr, weight_decay):
    raise NotImplementedError("your groups go here")


# --8<-- [end:starter]
