"""What a changed control costs the server, beside what it cannot do without, with a wide limit: the cost
crept up twice before, unseen. `python -m benchmarks.interaction` measures it exactly.
"""

import statistics
import time

import pytest

from attention_lab.models.zoo.others import untrained
from attention_lab.pages.explore import figure
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.waiting import Waiting

TEXT = " ".join(f"w{at}" for at in range(32))
SIZES = {"n_layers": 1, "n_heads": 8}
AT_MOST = 5.0
"""An answer takes 2.1 times the processor time of a model that is made and traced (2026-11-28)."""


@pytest.mark.usefixtures("unchecked_shapes")
def test_an_answer_costs_little_more_than_a_model_that_is_made_and_traced() -> None:
    def least(seed: int) -> None:
        model = untrained.load(seed=seed, d_model=64, **SIZES)
        model.trace(model.read(TEXT), reduce=lambda address, tensor: None)

    def whole(seed: int) -> None:
        question = Question(model="untrained", text=TEXT, settings={**SIZES, "seed": seed}, has="untrained 0")
        figure.answer(question, Waiting())

    def seconds(function: object, seed: int) -> float:
        begun = time.process_time()
        function(seed)  # type: ignore[operator]
        return time.process_time() - begun

    for seed in range(3):
        least(seed), whole(seed)
    both = [(seconds(least, seed), seconds(whole, seed)) for seed in range(10, 40)]
    ratio = statistics.median(whole for _, whole in both) / statistics.median(least for least, _ in both)
    assert ratio < AT_MOST
