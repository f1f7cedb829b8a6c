# ---
# title: Train a regression with a custom PyTorch linear layer
# description: >-
#   A linear layer whose backward is written by hand fits a regression; at each step its gradient is
#   compared with autograd's.
# ---

# %% [markdown]
# # Train a regression with a custom linear layer
#
# A loss that falls proves little: an optimizer gets somewhere with a gradient that is only roughly
# right. So this run does two things. `CustomLinear`, with its own $\mathrm{d}L/\mathrm{d}W$ and
# $\mathrm{d}L/\mathrm{d}b$, fits a regression, and at each step its gradient is laid beside the one
# that autograd finds for the same parameters.
# {.lede}

# %% [markdown]
# ## The data
#
# Points of a linear function of three variables, with a little noise. What is to be found is known:
# the weight $(1.5, -2, 0.5)$ and the bias $0.7$.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

from customgrad.functions import CustomLinear
from customgrad.training import (
    GradientRecord,
    regression_data,
    train_regression,
)

torch.set_num_threads(1)  # tensors this small gain nothing from two

generator = torch.Generator().manual_seed(0)
x, y = regression_data(generator=generator)
print("x:", tuple(x.shape))
print("y:", tuple(y.shape))

# %% [markdown]
# ## Train, and record two gradients a step
#
# `GradientRecord` is called in each step, after `backward()` and before the optimizer. It keeps the
# gradient that the custom backward has left in `.grad`, and has autograd compute another through
# `nn.Linear` at the same parameters.

# %%
model = CustomLinear(3, 1)
model.reset_parameters(generator)
record = GradientRecord(nn.Linear(3, 1))
losses = train_regression(model, x, y, steps=60, lr=0.1, on_step=record)

print("step    loss  relative gap")
for step in (0, 1, 2, 5, 10, 20, 40, 59):
    print(f"{step:4}  {losses[step]:.4f}  {record.gaps[step]:.0e}")

# %% [markdown]
# The gap is the largest difference between the two gradients, divided by the largest gradient.
#
# How large may it be? Both sides add up the same products, one for each data point, and each
# addition rounds in the last digit of float32. Towards the end the products nearly cancel: their
# sum, the gradient, is small, and the same rounding weighs more. The cell computes what the
# additions may lose at worst, measured as the gap is. The tolerance lies just above that.

# %%
with torch.no_grad():
    products = 2 * (model(x) - y) * x / len(x)
largest = record.autograd[-1]["weight"].abs().max()
cancelled = (products.abs().sum(0).max() / largest).item()
rounding = len(x) * torch.finfo(x.dtype).eps * cancelled
print(f"rounding, at worst: {rounding:.0e}")

tolerance = 1e-3
print(f"tolerance:          {tolerance:.0e}")
print(f"largest gap:        {max(record.gaps):.0e}")
print("steps compared:    ", len(record.gaps))
print("all close:         ", max(record.gaps) < tolerance)

# %% [markdown]
# What a wrong gradient does to the training is shown in
# [the module](../backprop/module.md#is-it-really-the-custom-gradient).

# %% alt="The loss falls by orders of magnitude within half of the steps, then levels off."
fig, ax = plt.subplots()
ax.plot(losses)
ax.set_yscale("log")
ax.set_title("Mean squared error")
ax.set_xlabel("step")
plt.show()

# %% [markdown]
# The gradients themselves: one line a weight from the custom backward, with autograd's marks on it.

# %% alt="Three weight gradients shrink to zero; at each step autograd's marks lie on our lines."
custom = torch.stack([step["weight"][0] for step in record.custom])
autograd = torch.stack([step["weight"][0] for step in record.autograd])

fig, ax = plt.subplots()
ours = ax.plot(custom[:30], color="C0")
marks = ax.plot(autograd[:30], "o", color="C1")
ax.set_title("Gradient of each weight")
ax.set_xlabel("step")
ax.legend([ours[0], marks[0]], ["custom backward", "autograd"])
plt.show()

# %% [markdown]
# ## What was learnt
#
# Rounded to one digit after the point, the parameters are those that the data was made with.

# %%
print("weight:", [round(w, 1) for w in model.weight[0].tolist()])
print("bias:  ", round(model.bias.item(), 1))

# %% [markdown]
# `CustomLinear` keeps its parameters under the names that `nn.Linear` uses. So they can be loaded
# into torch's own layer. It predicts the same, within the default tolerance of `allclose`: the two
# layers may round differently.

# %%
layer = nn.Linear(3, 1)
layer.load_state_dict(model.state_dict())
with torch.no_grad():
    print("same predictions:", torch.allclose(layer(x), model(x)))

# %% [markdown]
# ## Run it yourself
#
# The notebook needs `customgrad` and matplotlib. In a clone of this site's repository<!--clone-->,
# `pip install -e '.[examples]'` installs both. Jupyter, which opens the notebook, is not among
# them: `pip install notebook`. Without it, run the script of this page,
# `python examples/custom_linear_training.py`.

# %% [markdown]
# ## Where to go next
#
# - [The Function](../backprop/function.md) derives the gradients, with their shapes.
# - [The module](../backprop/module.md) wraps it in a layer with parameters.
# - [Train a classifier with a custom ReLU](custom_relu.py) swaps an activation in a network.
