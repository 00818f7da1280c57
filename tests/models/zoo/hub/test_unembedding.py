"""The last norm and output layer of models of transformers: the logits made again from the last stream."""

import pytest
import torch

from attention_lab.models.interventions.head_paths import parts_of_logits
from tests.models.zoo.hub.conftest import Opened

TEXT = "the street was wide"


@pytest.mark.parametrize("family", ["gpt2", "opt", "gpt-neox", "llama", "gemma3", "phi"])
def test_the_matrix_makes_the_logits_of_the_stream(opened: Opened, family: str) -> None:
    model = opened(family)
    trace = model.trace(TEXT)
    last = [address for address in trace if address.endswith(".resid_post")][-1]
    own, final = model.unembedding(), trace[last]
    together = own.logits(final, final)  # of all positions in one product
    torch.testing.assert_close(together + own.constant, trace["logits"], atol=1e-4, rtol=1e-4)
    for at in (0, 2):
        matrix = own.words * (own.gain / own.scale(final[at]))[:, None]
        matrix = matrix - matrix.mean(dim=0) if own.centred else matrix
        torch.testing.assert_close(together[at], final[at] @ matrix, atol=1e-5, rtol=1e-5)


def test_the_logits_of_gpt2_are_the_sum_of_its_parts(opened: Opened) -> None:
    model = opened("gpt2")
    parts = parts_of_logits(model, model.read(TEXT), 2)
    torch.testing.assert_close(parts.values.sum(0), model.trace(TEXT)["logits"][2], atol=1e-4, rtol=1e-4)
    assert "decoder.1.self head 3" in parts.names


@pytest.mark.parametrize("family", ["gemma2", "bert", "t5"])
def test_more_than_a_norm_and_a_matrix_is_refused(opened: Opened, family: str) -> None:
    model = opened(family)
    with pytest.raises(ValueError, match=r"the last norm and output layer of .* are not known; choose"):
        model.unembedding()
