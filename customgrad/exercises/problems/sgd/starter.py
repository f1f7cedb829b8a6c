"""The starter of the exercise sgd, made from its solution: `make outputs`."""

# --8<-- [start:starter]
import torch


class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0, dampening=0, nesterov=False):
        raise NotImplementedError("your options go here")

    @torch.no_grad()
    def step(self, closure=None):
        raise NotImplementedError("your step goes here")

    def direction(self, p, group):
        raise NotImplementedError("your buffer goes here")


# --8<-- [end:starter]
