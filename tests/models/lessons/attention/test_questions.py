"""The answers that are revealed."""

import pytest
import torch

from models.lessons.attention import examples, films, inputs, questions


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_more_heads_have_no_more_parameters(n_heads: int):
    assert questions.n_parameters(4, n_heads) == 4 * 4 * 4
    assert questions.n_parameters(512, n_heads) == 4 * 512 * 512


def test_counting_parameters_leaves_global_randomness_alone():
    before = torch.get_rng_state()
    questions.n_parameters(4, 2)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("n_tokens", [1, 4, 7])
def test_tokens_that_are_alike_share_the_weight_evenly_whatever_the_projections(n_tokens: int):
    for seed in range(3):
        pattern = questions.same_embedding_everywhere(n_tokens, seed)
        torch.testing.assert_close(pattern, torch.full_like(pattern, 1 / n_tokens))


def test_a_longer_embedding_draws_more_weight_from_who_is_like_it_and_from_itself():
    X = inputs.embeddings(list(examples.TOKENS), list(examples.TOKENS.values()))
    before, after = questions.longer_token(X, 0, 1), questions.longer_token(X, 0, 2)
    assert before[2, 0].item() == pytest.approx(0.100, abs=5e-4)
    assert after[2, 0].item() == pytest.approx(0.191, abs=5e-4)
    assert after[0, 0] > before[0, 0]


def test_weights_follow_the_difference_of_the_dot_products():
    def weight(*dots: float) -> float:
        return questions.weights_of(torch.tensor(dots, dtype=torch.float64), 64)[0].item()

    assert weight(112, 96) == pytest.approx(0.8808, abs=1e-4)
    assert weight(224, 192) == pytest.approx(0.9820, abs=1e-4)  # both doubled
    assert weight(212, 196) == pytest.approx(weight(112, 96))  # both 100 larger
    assert weight(96, 96) == 0.5


def test_stronger_tastes_choose_the_same_films_more_firmly():
    viewers = torch.tensor(list(examples.VIEWERS.values()))
    titles = torch.tensor(list(examples.FILMS.values()))
    before, after = films.recommend(viewers, titles), questions.keener_viewers(viewers, titles, 3)
    assert torch.equal(films.best(before["dots"]), films.best(after["dots"]))
    assert (after["pattern"].amax(dim=-1) > before["pattern"].amax(dim=-1)).all()
