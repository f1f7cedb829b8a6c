"""The starter of the exercise momentum, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch


@torch.no_grad()
def momentum_step(params, buffers, lr, momentum, dampening=0, nesterov=False):
    raise NotImplementedError("your step goes here")


# --8<-- [end:starter]
