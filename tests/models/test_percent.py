"""Shares in per cent."""

import pytest

from attention_lab.models.percent import percent


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.9992, "99.9%"), (0.99999, "99.9%"), (0.996, "99.6%"), (0.994, "99%"), (1.0, "100%"), (0.0, "0%")],
)
def test_a_share_that_is_not_whole_is_never_100_percent(share: float, said: str) -> None:
    assert percent(share) == said
