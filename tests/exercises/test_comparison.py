"""What counts as equal."""

import pytest
import torch

from customgrad.exercises.checking import same


@pytest.mark.parametrize("got", [1.0, -1e300, float("-inf"), float("nan")])
def test_only_infinity_equals_infinity(got):
    infinite = torch.tensor([float("inf"), 2.0])
    assert same(infinite.clone(), infinite)
    assert not same(torch.tensor([got, 2.0]), infinite)
