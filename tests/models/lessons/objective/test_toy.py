"""The toy's positions, each computed as if it were alone."""

import torch

from models.lessons.objective import toy


def test_each_position_sees_its_own_sentence_and_the_words_before_it():
    model, together = toy.model(seed=3), toy.logits(toy.model(seed=3))
    alone = []
    for source, target in toy.PAIRS:
        ids = torch.tensor([[toy.SOURCE_WORDS.index(word) for word in source]])
        read = [toy.START, *(toy.WORDS.index(word) for word in target)]
        alone += [model(ids, torch.tensor([read[:n]]))[0, -1, :6] for n in range(1, len(read))]
    torch.testing.assert_close(together, torch.stack(alone), atol=1e-5, rtol=1e-4)


def test_targets_and_what_is_read_are_the_sentences():
    words = [word for _, target in toy.PAIRS for word in target]
    assert [toy.WORDS[id_] for id_ in toy.TARGETS] == words
    read = toy.READ[toy.ASKED].tolist()
    assert ["<start>" if id_ == toy.START else toy.WORDS[id_] for id_ in read] == [
        name.split()[-1] for name in toy.positions()
    ]
    assert len(set(toy.positions())) == 7


def test_size():
    assert sum(weight.numel() for weight in toy.model(seed=0).parameters()) == 5_936
    assert len(toy.model(seed=0, n_layers=2, norm="post").encoder.layers) == 2
