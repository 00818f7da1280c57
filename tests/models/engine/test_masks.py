"""Masks: who may attend to whom."""

from collections import deque
from collections.abc import Callable

import pytest
import torch

from attention_lab.models import ModelConfig
from attention_lab.models.engine import masks
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.mask_names import MASK_TITLES, MASKS


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        (
            torch.zeros(1, 1, 2, 3),
            "mask of torch.float32 is not boolean (True = may attend); try mask.bool()",
        ),
        (
            torch.ones(1, 1, 3, 2, dtype=torch.bool),
            "mask of shape [1, 1, 3, 2] does not broadcast to [batch, head, query, key] = [4, 8, 2, 3]; "
            "give four axes, each of that size or 1",
        ),
    ],
)
def test_refused_with_value_rule_and_remedy(mask: torch.Tensor, sentence: str):
    with pytest.raises(ValueError) as error:
        masks.check(mask, (4, 8, 2, 3))
    assert str(error.value) == sentence


# Masks by name and argument: each is the function it names, and a bad argument is a sentence.


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("none", "", torch.ones(1, 1, 9, 9, dtype=torch.bool)),
        ("causal", "", masks.causal(9, 9)),
        ("padding", "2", (torch.arange(9) < 7).expand(1, 1, 9, 9)),
        ("window", "2", masks.sliding_window(9, 2, two_sided=True)),
        ("causal+window", "2", masks.sliding_window(9, 2)),
        ("strided", "3", masks.strided(9, 3)),
        ("fixed", "3.2", masks.fixed(9, 3, 2)),
        ("prefix", "5", masks.prefix(9, 5)),
        ("packed", "4.3.100", masks.packed(torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2]))),
        ("causal+packed", "9", masks.causal(9, 9)),
        ("memory", "3.2", masks.memory(9, 3, 2)),
        ("edges", "0-1 8-2", masks.edges(9, [(0, 1), (8, 2)])),
        ("painted", ";".join(["010101010"] * 9), masks.painted(";".join(["010101010"] * 9))),
    ],
)
def test_a_name_and_an_argument_give_the_mask(name: str, argument: str, expected: torch.Tensor):
    mask = masks.named(name, argument, 9)
    assert mask.shape == (1, 1, 9, 9)
    assert mask.equal(expected)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("n", [1, 2, 13, 32])
def test_an_empty_argument_is_one_that_suits_any_number_of_tokens(name: str, n: int):
    usual = masks.named(name, masks.usual(name, n), n)
    assert masks.named(name, "", n).equal(usual)
    assert bool(MASKS[name].rule) == (name not in ("none", "causal"))


def test_causal_with_any_mask_hides_what_comes_later():
    for name in MASKS:
        both = masks.named(f"causal+{name}", "", 7)
        assert both.equal(masks.named(name, "", 7) & masks.causal(7, 7))
        assert masks.kind_of(f"causal+{name}") == masks.kind_of(name) == name


@pytest.mark.parametrize(
    ("name", "argument", "sentence"),
    [
        ("banded", "", "mask='banded' is unknown; choose one of none, causal, padding, window, strided, "
                       "fixed, prefix, packed, memory, edges, painted, or causal+ one of them"),
        ("causal+causal+causal", "", "mask='causal+causal+causal' is unknown"),
        ("causal", "3", "mask 'causal' takes no argument, but got '3'; leave it out"),
        ("causal+window", "-1", "argument '-1' of mask 'window' is not a width in tokens; try '4'"),
        ("window", "9" * 5000, "is not a width in tokens; try '4'"),
        ("window", "٣", "is not a width in tokens; try '4'"),
        ("window", "0", "width=0 must be at least 1; try width=4"),
        ("fixed", "4", "argument '4' of mask 'fixed' is not a block's length, and how many last tokens "
                       "later ones see, with a dot between; try '4.1'"),
        ("packed", "4..3", "argument '4..3' of mask 'packed' is not the documents' lengths"),
        ("memory", "3", "argument '3' of mask 'memory' is not the lengths"),
        ("packed", "4.0", "a document of 0 tokens does not exist; give lengths of at least 1"),
        ("edges", "0-1,1-2", "argument '0-1,1-2' of mask 'edges' is not pairs of nodes with spaces between; "
                             "try '0-1 1-2'"),
        ("edges", "0-9", "edge 0-9 names a node that is not there; the nodes are 0 to 8"),
        ("painted", "10;01", "the painted mask has 2 rows for 9 tokens; paint 9, or give as many tokens"),
        ("painted", ";" * 8, "row 1 of the painted mask is '', not 9 cells of 0 or 1"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_refused_in_a_sentence(name: str, argument: str, sentence: str):
    with pytest.raises(ValueError) as error:
        masks.named(name, argument, 9)
    assert sentence in str(error.value)


def test_nobody_paints_a_long_text():
    with pytest.raises(ValueError, match="33 tokens are too many to paint a mask for; give at most 32"):
        masks.named("painted", "", 33)


# Masks in parts: whatever part is asked for is that of the whole mask.

N = 30
PARTS = [(slice(0, N), slice(0, N)), (slice(7, 19), slice(3, 22)), (slice(29, 30), slice(0, 1))]


@pytest.mark.parametrize("name", MASK_TITLES)
def test_every_part_is_a_part_of_the_whole(name: str) -> None:
    whole = masks.named(name, "", N)[0]
    for rows, keys in PARTS:
        found = masks.in_parts(name, "", N)(rows, keys)
        assert found.expand(1, rows.stop - rows.start, -1).equal(whole[:, rows, keys])


@pytest.mark.parametrize(
    ("name", "argument", "sentence"),
    [("causal", "3", "takes no argument"), ("painted", "10;11", "the painted mask has 2 rows for 30 tokens")],
)
def test_what_no_mask_takes_is_refused_at_once(name: str, argument: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        masks.in_parts(name, argument, N)


def test_a_mask_of_too_many_tokens_is_never_whole() -> None:
    with pytest.raises(ValueError, match="mask 'window' of 32,768 tokens is too large"):
        masks.named("window", "3", 32_768)
    part = masks.in_parts("causal+window", "3", 32_768)(slice(32_766, 32_768), slice(32_760, 32_768))
    assert part[0].long().tolist() == [[0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 1, 1]]


def test_several_masks_allow_what_all_allow() -> None:
    given = torch.rand(1, 1, N, generator=torch.Generator().manual_seed(0)) > 0.4
    both = masks.both(masks.in_parts("causal", "", N), None, masks.of_tensor(given))
    assert both is not None
    expected = masks.causal(N, N)[0] & given
    for rows, keys in PARTS:
        assert both(rows, keys).equal(expected[:, rows, keys])
    assert masks.both(None, None) is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("window", "2"),
        ("strided", "3"),
        ("fixed", "4.1"),
        ("prefix", "3"),
        ("memory", "4.1"),
        ("packed", "3.4"),
    ],
)
def test_no_mask_changes_where_a_text_goes_on(name: str, argument: str) -> None:
    whole = masks.named(name, argument, 20)
    for n in range(1, 20):
        assert torch.equal(masks.named(name, argument, n), whole[..., :n, :n])


# Each mask against its paper's sets of keys, written out token by token.


def sets(mask: torch.Tensor) -> list[set[int]]:
    """The keys that each query sees."""
    assert mask.shape[:2] == (1, 1) and mask.dtype == torch.bool
    return [{key for key, seen in enumerate(row) if seen} for row in mask[0, 0].tolist()]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("n", [1, 7])
def test_a_window_is_the_last_tokens_or_as_many_on_both_sides(n: int, width: int):
    one_side = [set(range(max(0, i - width + 1), i + 1)) for i in range(n)]
    both = [set(range(max(0, i - width + 1), min(n, i + width))) for i in range(n)]
    assert sets(masks.sliding_window(n, width)) == one_side
    assert sets(masks.sliding_window(n, width, two_sided=True)) == both
    assert masks.sliding_window(n, width).equal(
        masks.sliding_window(n, width, two_sided=True) & masks.causal(n, n)
    )


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 30])
def test_strided_is_the_union_of_the_papers_two_sets(stride: int):
    n = 13
    first = [set(range(max(0, i - stride), i + 1)) for i in range(n)]
    second = [{j for j in range(i + 1) if (i - j) % stride == 0} for i in range(n)]
    assert sets(masks.strided(n, stride, head=0)) == first
    assert sets(masks.strided(n, stride, head=1)) == second
    assert sets(masks.strided(n, stride)) == [a | b for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize(("stride", "summary"), [(4, 1), (4, 2), (4, 4), (1, 1), (30, 3)])
def test_fixed_is_the_union_of_the_papers_two_sets(stride: int, summary: int):
    n = 13
    first = [{j for j in range(i + 1) if j // stride == i // stride} for i in range(n)]
    last = range(stride - summary, stride)
    second = [{j for j in range(i + 1) if j % stride in last} for i in range(n)]
    assert sets(masks.fixed(n, stride, summary, head=0)) == first
    assert sets(masks.fixed(n, stride, summary, head=1)) == second
    assert sets(masks.fixed(n, stride, summary)) == [a | b for a, b in zip(first, second, strict=True)]


@pytest.mark.parametrize("length", [0, 1, 3, 6, 9])
def test_a_prefix_is_seen_by_all(length: int):
    expected = [{j for j in range(6) if j < length or j <= i} for i in range(6)]
    assert sets(masks.prefix(6, length)) == expected


def test_packed_documents_do_not_see_each_other():
    assert sets(masks.packed(torch.tensor([0, 0, 1, 0, 1]))) == [
        {0, 1, 3},
        {0, 1, 3},
        {2, 4},
        {0, 1, 3},
        {2, 4},
    ]


@pytest.mark.parametrize(("segment", "memory"), [(3, 3), (3, 0), (2, 5), (4, 1), (20, 2)])
def test_memory_is_what_came_before_in_the_segment_and_some_tokens_before_it(segment: int, memory: int):
    expected = [set(range(max(0, i // segment * segment - memory), i + 1)) for i in range(10)]
    assert sets(masks.memory(10, segment, memory)) == expected


def test_an_edge_is_seen_from_both_ends():
    assert sets(masks.edges(4, [(0, 1), (3, 1)])) == [{0, 1}, {0, 1, 3}, {2}, {1, 3}]
    assert sets(masks.edges(2, [])) == [{0}, {1}]


def test_a_mask_painted_cell_by_cell():
    assert sets(masks.painted("110;011;000")) == [{0, 1}, {1, 2}, set()]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: masks.strided(4, 2, head=2),
            "head=2 is neither 0 nor 1; leave it out for both patterns at once",
        ),
        (lambda: masks.fixed(4, 2, 3), "summary=3 is outside 1 <= summary <= stride=2; try 1"),
        (lambda: masks.prefix(4, -1), "length=-1 must be at least 0; try length=4"),
        (lambda: masks.memory(4, 2, -1), "memory=-1 must be at least 0; try memory=4"),
        (
            lambda: masks.painted("10;1x"),
            "row 2 of the painted mask is '1x', not 2 cells of 0 or 1; paint as many cells as there are rows",
        ),
    ],
)
def test_what_makes_no_mask_is_refused(make: Callable[[], torch.Tensor], sentence: str):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == sentence


# Reach over layers against a walk through the mask's graph, and against gradients of real layers.

NAMES = [name for name in MASKS if name != "none"]


def steps_from(allowed: list[list[bool]], query: int) -> list[int]:
    """Breadth first: how many steps along "may attend to" lead from the query to each token; -1 for none."""
    steps = [-1] * len(allowed)
    steps[query] = 0
    waiting = deque([query])
    while waiting:
        at = waiting.popleft()
        for key, may in enumerate(allowed[at]):
            if may and steps[key] < 0:
                steps[key] = steps[at] + 1
                waiting.append(key)
    return steps


@pytest.mark.parametrize("name", NAMES)
def test_reach_is_a_walk_of_as_many_steps_as_layers(name: str):
    allowed = masks.named(name, "", 11)[0, 0]
    walked = torch.tensor([steps_from(allowed.tolist(), query) for query in range(11)])
    assert masks.layers_needed(allowed).equal(walked)
    for layer, reached in enumerate(masks.reach(allowed, 8), start=1):
        assert reached.equal((walked >= 0) & (walked <= layer))


@pytest.mark.parametrize("name", ["causal+window", "edges"])
def test_reach_is_where_gradients_arrive(name: str):
    """Attention with a residual: d output[query] / d input[key] is zero out of reach, and only there."""
    config = ModelConfig(kind="encoder-only", n_layers=1, n_heads=2, d_model=8, vocab_size=9, max_len=9)
    torch.manual_seed(0)
    layers = [MultiHeadAttention(config).double() for _ in range(3)]
    allowed = masks.named(name, "2" if "window" in name else "", 9)

    def run(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            x = x + layer(x, x, allowed)
        return x[0]

    x = torch.randn(1, 9, 8, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(run, x)  # [query, channel, 1, key, channel]
    influenced = jacobian.abs().amax(dim=(1, 2, 4)) > 0
    assert influenced.equal(masks.reach(allowed[0, 0], 3)[-1])


def test_no_layers_reach_nothing():
    with pytest.raises(ValueError, match="n_layers=0 must be at least 1; try n_layers=2"):
        masks.reach(torch.ones(2, 2, dtype=torch.bool), 0)
