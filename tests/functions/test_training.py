"""The training loops: right numbers, the custom gradient really used, nothing random left over."""

from itertools import chain

import pytest
import torch
from torch import nn

from customgrad.functions import CustomLinear, Linear, custom_relu
from customgrad.training import (
    MLP,
    GradientRecord,
    regression_data,
    train_classifier,
    train_linear,
    train_regression,
)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


class Line(nn.Module):
    """y = a x, from a = 0."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return self.a * x


def test_regression_by_hand():
    # L = mean (a x - y)^2 = 2.5 a^2 - 10 a + 10, dL/da = 5 a - 10; a: 0, 1, 1.5.
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
    model = Line()
    assert train_regression(model, x, y, steps=2, lr=0.1) == [10.0, 2.5]
    assert model.a.item() == 1.5


def test_on_step_sees_each_fresh_gradient_before_its_use():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
    seen = []

    def on_step(model, step_x, step_y):
        assert step_x is x
        assert step_y is y
        seen.append((model.a.item(), model.a.grad.item()))

    train_regression(Line(), x, y, steps=3, lr=0.1, on_step=on_step)
    assert seen == [(0.0, -10.0), (1.0, -5.0), (1.5, -2.5)]


def test_regression_data():
    x, y = regression_data(1000, generator=seeded(0))
    assert x.shape == (1000, 3)
    assert y.shape == (1000, 1)
    assert x.dtype == y.dtype == torch.float32
    ones = torch.ones(1000, 1)
    fit = torch.linalg.lstsq(torch.cat([x, ones], dim=1).double(), y.double())
    expected = torch.tensor([[1.5], [-2.0], [0.5], [0.7]], dtype=torch.float64)
    torch.testing.assert_close(fit.solution, expected, rtol=0, atol=0.02)
    residual = y - x @ expected[:3].float() - 0.7
    assert residual.std().item() == pytest.approx(0.1, rel=0.1)
    exact = regression_data(5, generator=seeded(0), noise=0.0)
    torch.testing.assert_close(exact[1], exact[0] @ expected[:3].float() + 0.7)
    assert regression_data(generator=seeded(0))[0].shape == (64, 3)


def test_linear_learns_and_repeats():
    state = torch.get_rng_state()
    losses = train_linear(generator=seeded(0))
    assert torch.equal(state, torch.get_rng_state())
    assert len(losses) == 60
    assert all(type(loss) is float for loss in losses)
    assert losses[0] > 1
    assert losses[-1] < 0.02  # the noise alone costs 0.01
    assert losses == train_linear(generator=seeded(0))
    assert losses != train_linear(generator=seeded(1))
    assert losses[:7] == train_linear(generator=seeded(0), steps=7)
    assert losses[1] != train_linear(generator=seeded(0), steps=2, lr=0.2)[1]


def test_linear_is_the_same_training_as_with_nn_linear():
    generator = seeded(0)
    x, y = regression_data(generator=generator)
    start = CustomLinear(3, 1)
    start.reset_parameters(generator)
    theirs = nn.Linear(3, 1)
    theirs.load_state_dict(start.state_dict())
    expected = train_regression(theirs, x, y)
    assert train_linear(generator=seeded(0)) == pytest.approx(expected, rel=1e-4)


def test_linear_trains_with_the_custom_gradient(monkeypatch):
    calls = []
    backward = Linear.backward

    def spy(ctx, grad_output):
        calls.append(grad_output.shape)
        return backward(ctx, grad_output)

    monkeypatch.setattr(Linear, "backward", staticmethod(spy))
    train_linear(generator=seeded(0), steps=4)
    assert calls == [(64, 1)] * 4


def test_record_of_a_right_gradient():
    record = GradientRecord(nn.Linear(3, 1))
    train_linear(generator=seeded(0), steps=5, on_step=record)
    assert len(record.custom) == len(record.autograd) == len(record.gaps) == 5
    for custom, autograd in zip(record.custom, record.autograd, strict=True):
        assert list(custom) == list(autograd) == ["weight", "bias"]
        assert custom["weight"].shape == autograd["weight"].shape == (1, 3)
        torch.testing.assert_close(custom, autograd)
    # Each step has numbers of its own, not a buffer that the next step overwrites.
    assert not torch.equal(record.custom[0]["weight"], record.custom[4]["weight"])
    assert max(record.gaps) < 1e-5


class NeverCalled(Line):
    def forward(self, x):
        raise AssertionError("the reference computes the gradient")


def test_record_by_hand():
    model = NeverCalled()
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
    record = GradientRecord(Line())
    model.a.grad = torch.tensor(-8.0)  # autograd's is -10
    record(model, x, y)
    model.a.grad.fill_(-10.0)  # the record keeps its own copy
    record(model, x, y)
    assert [g["a"].item() for g in record.custom] == [-8.0, -10.0]
    assert [g["a"].item() for g in record.autograd] == [-10.0, -10.0]
    assert record.gaps == pytest.approx([0.2, 0.0])


def test_a_gap_is_the_largest_of_all_parameters_over_the_largest_gradient():
    record = GradientRecord(Line())
    record.custom = [{"a": torch.tensor([1.0, 3.0]), "b": torch.tensor([0.0])}]
    record.autograd = [{"a": torch.tensor([1.0, -4.0]), "b": torch.tensor([2.0])}]
    assert record.gaps == [7 / 4]
    record.custom[0]["a"] = torch.tensor([1.0, -3.0])  # now the largest is b's
    assert record.gaps == [2 / 4]


def test_record_of_zero_gradients():
    model = Line()
    model.a.grad = torch.tensor(0.0)
    record = GradientRecord(Line())
    record(model, torch.zeros(2), torch.zeros(2))
    assert record.gaps == [0.0]


def test_record_without_a_gradient():
    message = (
        r"^GradientRecord: a must have a gradient in \.grad, got None; "
        r"call backward\(\) before the record$"
    )
    with pytest.raises(ValueError, match=message):
        GradientRecord(Line())(Line(), torch.zeros(2), torch.zeros(2))


def test_mlp():
    state = torch.get_rng_state()
    model = MLP([4, 30, 30, 3], custom_relu, generator=seeded(0))
    assert torch.equal(state, torch.get_rng_state())
    assert [tuple(p.shape) for p in model.parameters()] == [
        *((30, 4), (30,)),
        *((30, 30), (30,)),
        *((3, 30), (3,)),
    ]
    for layer in model.layers:
        end = layer.in_features**-0.5
        for parameter in layer.parameters():
            assert parameter.abs().max().item() <= end
        assert layer.weight.abs().max().item() > 0.9 * end
        assert layer.weight.min().item() < 0 < layer.weight.max().item()
    same = MLP([4, 30, 30, 3], torch.relu, generator=seeded(0))
    assert all(map(torch.equal, model.parameters(), same.parameters()))
    x = torch.randn(5, 4, generator=seeded(1))
    hidden = torch.relu(model.layers[1](torch.relu(model.layers[0](x))))
    expected = model.layers[2](hidden)
    assert expected.min().item() < 0  # no activation after the last layer
    assert torch.equal(model(x), expected)


def classes():
    """Three well separated clouds."""
    y = torch.arange(90) % 3
    centres = torch.tensor([[0.0, 3.0], [3.0, 0.0], [-3.0, -3.0]])
    return centres[y] + torch.randn(90, 2, generator=seeded(5)), y


def test_classifier_is_the_same_with_either_relu():
    x, y = classes()
    state = torch.get_rng_state()
    losses = []
    for activation in (custom_relu, torch.relu):
        model = MLP([2, 16, 3], activation, generator=seeded(0))
        losses.append(train_classifier(model, x, y, batch_size=32, generator=seeded(1)))
    assert torch.equal(state, torch.get_rng_state())
    assert losses[0] == losses[1]
    assert len(losses[0]) == 5 * 3
    assert losses[0][0] > 0.8
    assert losses[0][-1] < 0.5


def test_classifier_uses_every_example_once_an_epoch():
    x = torch.arange(10.0)[:, None]
    batches = []

    class Watch(nn.Linear):
        def forward(self, batch):
            batches.append(batch.flatten().tolist())
            return super().forward(batch)

    train_classifier(
        Watch(1, 2), x, torch.arange(10) % 2, epochs=2, batch_size=4, generator=seeded(0)
    )
    assert [len(batch) for batch in batches] == [4, 4, 2, 4, 4, 2]
    epochs = [list(chain(*batches[:3])), list(chain(*batches[3:]))]
    assert sorted(epochs[0]) == sorted(epochs[1]) == x.flatten().tolist()
    assert epochs[0] != epochs[1] != x.flatten().tolist()


def test_classifier_by_hand():
    # One example, two equal logits: loss log 2, gradient of the biases (-1/2, 1/2).
    model = nn.Linear(1, 2)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    losses = train_classifier(
        model, torch.zeros(1, 1), torch.tensor([0]), epochs=2, lr=2.0, generator=seeded(0)
    )
    # After one step the biases are (1, -1): loss log(1 + e^-2), then 2 / (1 + e^2) more.
    assert model.bias.tolist() == pytest.approx([1.238406, -1.238406], abs=1e-5)
    assert losses == pytest.approx([0.693147, 0.126928], abs=1e-5)
