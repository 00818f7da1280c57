"""The registry of steps: it tells the truth about the functions, marks what is new, and its claims hold."""

import pytest
import torch

from models.lessons.attention import evolution, examples, inputs
from models.lessons.attention.evolution import STEPS, Step

SIZES = {"token": 4, "key": 4, "channel": 4, "hidden": 3, "head": 2, "d_head": 2}
ORDER = ["free", "v0", "v1", "v2", "v3", "v4", "v5", "v6"]
ANIMAL, STREET, IT, TIRED = range(4)


def given(seed: int | None = None) -> dict[str, torch.Tensor]:
    X, Q = (
        inputs.embeddings(list(words), list(words.values())) for words in (examples.TOKENS, examples.QUERIES)
    )
    return inputs.inputs(X, Q, seed)


def computed(key: str, n_heads: int = 2) -> dict[str, torch.Tensor]:
    return evolution.compute(STEPS[ORDER.index(key)], given(), n_heads=n_heads)


def marked(key: str) -> set[str]:
    nodes, _ = evolution.diagram(ORDER.index(key))
    return {node.name for node in nodes if node.changed}


def test_the_steps_come_in_the_order_of_their_history():
    assert [step.key for step in STEPS] == ORDER


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_names_axes_and_shapes_are_those_of_the_computation(step: Step):
    tensors = evolution.compute(step, given(), n_heads=2)
    assert list(tensors) == list(step.axes)
    # Three queries from outside; in self-attention each of the four tokens asks.
    sizes = SIZES | {"query": 3 if "Q" in step.takes else 4}
    for name, tensor in tensors.items():
        assert tensor.shape == tuple(sizes[axis] for axis in step.axes[name].split())


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_each_line_reads_only_what_is_there_before_it(step: Step):
    known = set(step.takes)
    for line in step.lines:
        assert set(line.reads) <= known
        known.add(line.name)
    read = {name for line in step.lines for name in line.reads}
    assert known - read == {"out" if step.key == "v6" else "z"}, "everything but the result is used"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_each_lines_inputs_are_all_that_its_tensor_depends_on(step: Step):
    """Change one given tensor: just the lines that read it, directly or through others, change."""
    tensors = evolution.compute(step, given(3), n_heads=2)
    for name in step.takes:
        reached = {name}
        for line in step.lines:
            if reached & set(line.reads):
                reached.add(line.name)
        noise = torch.randn(tensors[name].shape, generator=torch.Generator().manual_seed(0)).double()
        other = evolution.compute(step, given(3) | {name: tensors[name] + noise}, n_heads=2)
        assert {n for n in tensors if not torch.allclose(tensors[n], other[n])} == reached


def test_the_diagram_marks_what_the_step_before_did_not_do():
    assert marked("free") == set()
    assert marked("v0") == {"q", "W_a", "U_a", "v_a", "hidden", "scores"}
    assert marked("v1") == {"scores"}
    assert marked("v2") == {"scores"}
    assert marked("v3") == {"Q", "dots"}
    assert marked("v4") == {"W_K", "W_V", "K", "V", "dots", "z"}
    assert marked("v5") == {"W_Q", "Q"}
    assert marked("v6") == {"W_O", "Q_heads", "K_heads", "V_heads", "scores", "concat", "out"}


def test_the_diagrams_edges_are_what_the_lines_read():
    nodes, edges = evolution.diagram(ORDER.index("v2"))
    assert edges == [
        ("q", "dots"), ("X", "dots"), ("dots", "scores"), ("scores", "pattern"), ("pattern", "z"), ("X", "z"),
    ]  # fmt: skip
    assert [node.name for node in nodes] == ["q", "X", "dots", "scores", "pattern", "z"]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.key)
def test_formulas_mark_a_change_in_every_step_but_the_first(step: Step):
    assert ("\\new{" in step.formula) == (step.key != "free")


def test_heads_that_do_not_divide_the_channels_are_refused():
    with pytest.raises(ValueError) as error:
        computed("v6", n_heads=3)
    assert str(error.value) == ("4 channels cannot be cut into n_heads=3 equal parts; try 1, 2 or 4")


def test_without_parameters_each_word_looks_at_itself_most():
    pattern = computed("free")["pattern"]
    assert pattern.argmax(dim=-1).tolist() == [0, 1, 2, 3]
    assert pattern[IT, IT].item() == pytest.approx(0.739, abs=5e-4)


def test_matrices_by_hand_let_each_query_find_its_word_in_every_step_with_queries_from_outside():
    for key in ("v0", "v1", "v2"):
        assert computed(key)["pattern"].argmax() == ANIMAL
    for key in ("v3", "v4"):
        assert computed(key)["pattern"].argmax(dim=-1).tolist() == [ANIMAL, STREET, TIRED]


def test_scaling_makes_the_weights_more_even():
    assert computed("v2")["pattern"].max() < computed("v1")["pattern"].max()


def test_keys_of_their_own_take_weight_from_the_pronoun():
    before, after = computed("v3")["pattern"], computed("v4")["pattern"]
    assert before[0, IT].item() == pytest.approx(0.329, abs=5e-4)
    assert after[0, IT].item() == pytest.approx(0.102, abs=5e-4)
    assert after[0, ANIMAL].item() == pytest.approx(0.757, abs=5e-4)


def test_projected_queries_let_it_look_at_animal_and_heads_part_its_two_reasons():
    single = computed("v5")["pattern"][IT]
    assert single.argmax() == ANIMAL
    assert (single[ANIMAL].item(), single[TIRED].item()) == pytest.approx((0.575, 0.349), abs=5e-4)
    first, second = computed("v6")["pattern"][:, IT]
    assert first[ANIMAL].item() == pytest.approx(0.844, abs=5e-4)
    assert second[TIRED].item() == pytest.approx(0.831, abs=5e-4)


def test_long_queries_and_keys_without_scaling_give_one_weight_and_hardly_a_gradient():
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1024, generator=generator, dtype=torch.float64)
    X = torch.randn(4, 1024, generator=generator, dtype=torch.float64)
    gradients = []
    for scale in (1.0, 1024**-0.5):
        scores = (X @ q * scale).requires_grad_()
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
        gradients.append(jacobian.norm().item())
        largest = scores.softmax(dim=-1).max().item()
        assert (largest > 0.99) == (scale == 1.0)
    assert gradients[0] < gradients[1] / 100
