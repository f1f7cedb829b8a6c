# ---
# title: Train a PyTorch classifier with a custom ReLU
# description: >-
#   A classifier of handwritten digits, trained once with a hand-written ReLU backward and once
#   with torch.relu. The losses are identical, step by step.
# ---

# %% [markdown]
# # Train a classifier with a custom ReLU
#
# A `Function` that is right can take the place of torch's own operation, and nothing else changes.
# Here a small network learns to read handwritten digits, once with `CustomReLU` and once with
# `torch.relu`. Both runs start from the same weights and see the same batches. If `CustomReLU`
# computes what `torch.relu` does, the loss of each step must be the same number in both.
# {.lede}

# %% [markdown]
# ## The data
#
# scikit-learn brings a small set of handwritten digits with it, each a row of grey values. The
# first 1400 are for training, the rest is held out.

# %%
from functools import partial

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import load_digits

from customgrad.functions import CustomReLU
from customgrad.training import MLP, train_classifier

torch.set_num_threads(1)  # tensors this small gain nothing from two

digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32)
images /= images.max()
labels = torch.tensor(digits.target)
x, y = images[:1400], labels[:1400]
x_test, y_test = images[1400:], labels[1400:]

print("training:", tuple(x.shape))
print("held out:", tuple(x_test.shape))
print("labels:  ", y[:8].tolist())

# %% alt="Eight handwritten digits in a row, grey and coarse: 0, 1, 2, 3, 4, 5, 6, 7."
row = torch.cat(list(x[:8].reshape(8, 8, 8)), dim=1)

fig, ax = plt.subplots(figsize=(4.4, 0.8))
ax.imshow(row.numpy(), cmap="gray_r")
ax.axis("off")
plt.show()

# %% [markdown]
# ## Two networks that differ in one line
#
# Both have one hidden layer of 32 units. A generator with the same seed draws their parameters, so
# they start equal; the activation is all that differs.

# %%
sizes = [64, 32, 10]
start = torch.Generator()
ours = MLP(sizes, CustomReLU.apply, generator=start.manual_seed(0))
torchs = MLP(sizes, torch.relu, generator=start.manual_seed(0))

pairs = zip(ours.parameters(), torchs.parameters(), strict=True)
print("same start:", all(torch.equal(a, b) for a, b in pairs))

# %% [markdown]
# Is the custom backward really the one that runs? The tape tells. What the activation returns
# carries the node whose backward will run.

# %%
hidden = ours.layers[0](x)
print("ours:   ", ours.activation(hidden).grad_fn.name())
print("torch's:", torchs.activation(hidden).grad_fn.name())

# %% [markdown]
# ## Train both
#
# [`train_classifier`](../backprop/module.md) is a plain loop: shuffle, take a batch, `backward()`,
# step. Its generator is seeded alike too, so both networks see the same batches in the same order.

# %%
train = partial(train_classifier, x=x, y=y, epochs=20, lr=0.2)
shuffle = torch.Generator()
losses = train(ours, generator=shuffle.manual_seed(1))
torch_losses = train(torchs, generator=shuffle.manual_seed(1))

print("step    ours  torch's")
for step in (0, 1, 2, 100, 200, 300, 400):
    print(f"{step:4}  {losses[step]:.3f}    {torch_losses[step]:.3f}")

# %% [markdown]
# The table rounds, and it leaves steps out. Here all steps are compared, with all their digits:

# %%
both = list(zip(losses, torch_losses, strict=True))
print("steps:             ", len(both))
print("largest difference:", max(abs(a - b) for a, b in both))
print("identical:         ", losses == torch_losses)

# %% [markdown]
# The comparison is `==`, step by step, with no tolerance. It covers what these runs met, and no
# more: an input of exactly zero, NaN and infinity may not have been among it. Those are compared
# one by one in [the solution](../relu/solution.md#edge-cases).

# %% alt="The loss falls steeply, then levels off; torch's marks all lie on our line."
steps = range(0, len(losses), 20)

fig, ax = plt.subplots()
ax.plot(losses, color="C0", label="CustomReLU")
ax.plot(steps, torch_losses[::20], "o", color="C1", label="torch.relu")
ax.set_title("Training loss")
ax.set_xlabel("step")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %% [markdown]
# ## Held-out digits
#
# The two networks end with the same parameters. So they give the same answer to each held-out
# digit, and are wrong about the same ones.

# %%
pairs = zip(ours.parameters(), torchs.parameters(), strict=True)
print("same parameters:", all(torch.equal(a, b) for a, b in pairs))

with torch.no_grad():
    guess = ours(x_test).argmax(dim=1)
    torch_guess = torchs(x_test).argmax(dim=1)

print("held out:       ", len(y_test))
print("right, ours:    ", (guess == y_test).sum().item())
print("right, torch's: ", (torch_guess == y_test).sum().item())
print("same answers:   ", torch.equal(guess, torch_guess))

# %% [markdown]
# ## Run it yourself
#
# The notebook needs `customgrad`, matplotlib and scikit-learn. In a clone of this site's repository<!--clone-->,
# `pip install -e '.[examples]'` installs all three. Jupyter, which opens the notebook, is not among
# them: `pip install notebook`. Without it, run the script of this page,
# `python examples/custom_relu.py`.

# %% [markdown]
# ## Where to go next
#
# - [The solution](../relu/solution.md) builds this ReLU step by step.
# - [The pitfalls](../relu/pitfalls.md) show what each usual mistake does to the gradient.
# - [Train a custom linear layer](custom_linear_training.py) compares gradients instead of losses.
