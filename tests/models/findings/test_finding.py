"""Every finding is declared whole, and refuses what it cannot be measured on in one sentence."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from attention_lab.models import load_model
from attention_lab.models.findings import (
    copy_suppression,
    explanation,
    findings,
    indirect_object,
    induction,
    no_sink,
    positional,
    pruning,
    sinks,
)
from attention_lab.models.findings.attribution import effects, probabilities
from attention_lab.models.findings.no_sink import OnFirst
from attention_lab.models.findings.positional import HeadCounts
from attention_lab.models.findings.pruning import Quality
from attention_lab.models.zoo.model import Attention
from tests.models.zoo.hub.families import save, tokenizer_of

UNFIT = {
    "positional": "digits-classifier",
    "sinks": "sentiment",
    "rollout": "shakespeare",
    "explanation": "masked",
}
NAMES = sorted(findings())


@pytest.mark.parametrize("name", NAMES)
def test_it_names_its_paper_and_its_rule(name: str) -> None:
    finding = findings()[name]
    assert finding.name == name
    assert re.search(r"[12]\d{3}", finding.paper), finding.paper
    rule, caveat = finding.words()
    assert finding.claim.endswith(".") and caveat.endswith(".") and not rule.endswith(".")
    assert not set("{}") & set(rule + caveat + finding.claim)
    sentence, _, paper = finding.brief.partition(" (")
    assert finding.claim.startswith(sentence) and finding.paper.startswith(paper.removesuffix(")."))
    assert len(finding.brief) <= 150, "one line of a presented page"
    assert all(parameter.rule.fits(parameter.default) for parameter in finding.parameters.values())


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("positional", {"at_one_offset": 0.8}, "at one offset for 80% of the words"),
        ("rare-words", {"share": 0.25}, "the rarest word for at least 25% of the words"),
        ("sinks", {"first": 2, "sink": 0.4, "width": 8}, "first 2 tokens have a mean weight of at least 0.4"),
        ("copy-suppression", {"lowest": 5}, "among the 5 it lowers most"),
        ("explanation", {"most": 0.05}, "move the answer by 0.05 at most"),
        ("induction", {"weight": 0.7}, "more than 0.7 of its weight"),
        ("grokking", {"right": 0.9, "times": 4.0, "waves": 7}, "90% of the held-out pairs are right 4 times"),
    ],
)
def test_the_rule_says_what_is_in_force(name: str, given: dict[str, float], said: str) -> None:
    rule, caveat = findings()[name].words(**given)
    assert said in rule and said not in findings()[name].words()[0]
    assert not set("{}") & set(rule + caveat)


@pytest.mark.parametrize("name", [name for name in NAMES if name in UNFIT])
def test_a_model_that_does_not_fit_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{UNFIT[name]}' .*choose"):
        findings()[name].measured(load_model(UNFIT[name]))


@pytest.mark.parametrize("name", NAMES)
def test_without_a_model_it_is_measured_on_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = findings()[name]
    monkeypatch.setattr("attention_lab.models.zoo.load_model", lambda source: f"opened {source}")
    given = [
        replace(finding, measure=lambda model, *_, **__: model).measured(*none) for none in ((), (None,))
    ]
    assert given == [f"opened {finding.model}" if finding.model else None] * 2


def test_a_finding_about_runs_takes_no_model() -> None:
    with pytest.raises(ValueError, match="'grokking' is about runs that ship, not about a model; give none"):
        findings()["grokking"].measured(load_model("induction"))


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="'depth' is no parameter of finding 'sinks'; it has tokens, texts"):
        findings()["sinks"].measured(load_model("shakespeare"), depth=3)


def test_whoever_hears_of_the_progress_can_end_it() -> None:
    told: list[float] = []

    def tell(share: float) -> None:
        told.append(share)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        findings()["positional"].measured(load_model("shakespeare"), tell, texts=10)
    assert told == [0.1, 0.2]


@pytest.mark.parametrize(
    ("layers", "costs", "holds"),
    [
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5000.0, 5.2], True),
        ([0.9, 0.9, 0.1, 0.1], [5.0, 5000.0, 5.2], False),  # in the lowest layers alone
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5.3, 5.2], False),  # nothing is ruined
        ([0.0, 0.0, 0.6, 0.7], [5.0, 5000.0, 50.0], False),  # nothing is restored
    ],
)
def test_sinks(layers: list[float], costs: list[float], holds: bool) -> None:
    heads = torch.tensor(layers)[:, None].expand(-1, 3)
    assert sinks._outcome(heads, range(4), [costs], 64, 4, 0.3, 16).holds is holds


@pytest.mark.parametrize(("apart", "holds"), [([0.4, 0.6, 0.0], True), ([0.3, 0.6, 0.0], False)])
def test_attention_is_no_explanation_where_very_different_weights_answer_alike(
    apart: list[float], holds: bool
) -> None:
    agree = torch.tensor([0.1, 0.2, 0.3])
    assert explanation._outcome(agree, agree, torch.tensor(apart), 20, 0.01).holds is holds


@pytest.mark.parametrize(
    ("offset", "weight", "holds"), [(-1, 0.9, True), (1, 0.9, True), (-3, 0.9, False), (-1, 0.5, False)]
)
def test_positional_heads_are_confident_and_look_beside(offset: int, weight: float, holds: bool) -> None:
    seen = HeadCounts()
    for _ in range(20):
        seen.offsets[offset] += 1
        seen.maxima.append(weight)
    assert positional._outcome({"L0 H0": seen}, 0.9, 0.8).holds is holds


@pytest.mark.parametrize(("loss", "holds"), [(2.0, True), (2.1, False)])
def test_models_without_a_sink_are_as_good(loss: float, holds: bool) -> None:
    usual = OnFirst(idle=0.5, busy=0.0, given=1.0, loss=2.0)
    seen = {"softmax": usual, "softmax-plus-one": usual, "sigmoid": replace(usual, idle=0.0, loss=loss)}
    assert no_sink._outcome(seen, 0.3).holds is holds


def test_a_head_forms_suddenly_and_the_loss_falls_with_it() -> None:
    steps = list(range(0, 1001, 50))
    depth = induction.Depth(
        steps=steps, gained=[0.0 if at < 500 else -2.0 for at in steps], by_set=-1.0, steps_seen=steps,
        looked=[0.0 if at < 500 else 0.8 for at in steps], address="decoder.1.self.pattern", head=0,
        film=torch.zeros(1, 1, 1),
    )  # fmt: skip
    assert induction.sudden(depth) == pytest.approx((1, 1), abs=0.01)
    slow = replace(depth, looked=[0.8 * at / 1000 for at in steps])
    assert induction.sudden(slow)[0] == pytest.approx(0.1)
    later = replace(depth, gained=[0.0 if at < 900 else -2.0 for at in steps])
    assert induction.sudden(later)[1] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("right", "weight", "holds"), [(100, 0.6, True), (98, 0.6, False), (100, 0.4, False)]
)
def test_the_indirect_object_comes_first_in_99_of_100_and_a_head_looks_at_it(
    right: int, weight: float, holds: bool
) -> None:
    differences = torch.tensor([3.0] * right + [-1.0] * (100 - right))
    about = Attention(n_layers=2, n_heads=2, d_head=4, n_key_heads=2, scales=(0.5, 0.5))
    assert indirect_object._outcome(differences, [0.5], torch.full((2, 2), weight), about).holds is holds


@pytest.mark.parametrize(
    ("share", "n", "holds"), [(0.80, 50, True), (0.80, 1000, False), (0.9, 1000, True), (0.6, 50, False)]
)
def test_copies_are_suppressed_for_as_many_tokens_as_in_the_paper(share: float, n: int, holds: bool) -> None:
    shares, effect = torch.tensor([[share, 0.0]]), torch.tensor([[-0.1, 0.0]])
    assert copy_suppression._outcome(shares, effect, n, 10, 50_000).holds is holds


@pytest.mark.parametrize(
    ("encoder", "decoder", "cross", "holds"), [(1, 3, 4, True), (1, 4, 3, False), (2, 3, 4, False)]
)
def test_few_heads_of_the_encoder_are_left_and_most_that_look_across(
    encoder: int, decoder: int, cross: int, holds: bool
) -> None:
    known = pruning.shipped()
    kept = {
        address: list(
            range({"encoder": encoder}.get(address.split(".")[0], cross if "cross" in address else decoder))
        )
        for address in known.penalties[0].kept
    }
    same = [replace(known.penalties[0], kept=kept, trained=known.whole)]
    quality = Quality(translation=1.0, pronoun=1.0)
    assert pruning._outcome(replace(known, penalties=same), [quality], 20, 4).holds is holds


TEXT = "the plot was dull"


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, tokenizer = tmp_path_factory.mktemp("classifier"), tokenizer_of("word-piece")
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=64, num_labels=2,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.BertForSequenceClassification(config)
        for parameter in model.parameters():
            parameter.data += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_effect_of_a_blank_is_that_of_transformers_own_model(classifier: Path) -> None:
    model = load_model(f"hf:{classifier}")
    reading = model.read(TEXT)
    untouched = transformers.BertForSequenceClassification.from_pretrained(classifier).eval()
    embedded = untouched.get_input_embeddings()(reading.inputs[0])
    blanked = embedded.clone()
    blanked[0, 2] = 0
    with torch.no_grad():
        whole, without = (
            untouched(inputs_embeds=each).logits[0].double().softmax(dim=-1) for each in (embedded, blanked)
        )
    assert probabilities(model, reading).tolist() == pytest.approx(whole.tolist(), abs=1e-5)
    answer = int(whole.argmax())
    found = effects(model, reading, [2], "zero")
    assert found.tolist() == pytest.approx([abs(float(whole[answer] - without[answer]))], abs=1e-5)


@pytest.mark.parametrize(("name", "given"), [("rollout", {}), ("explanation", {"permutations": 2})])
def test_a_classifier_of_transformers_is_measured(classifier: Path, name: str, given: dict[str, int]) -> None:
    found = findings()[name].measured(load_model(f"hf:{classifier}"), texts=5, **given)
    assert -1 <= found.numbers[0].value <= 1
    assert "5 texts" in found.said


def test_a_decoder_of_transformers_is_measured(tmp_path: Path) -> None:
    model = load_model(f"hf:{save('gpt2', tmp_path)}")
    found = findings()["sinks"].measured(model, texts=1, tokens=24, width=8, first=2)
    assert [number.value > 1 for number in found.numbers[4:]] == [True] * 3
    assert "largest share" in findings()["positional"].measured(model, texts=3).numbers[0].label
