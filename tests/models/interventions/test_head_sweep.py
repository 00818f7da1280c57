"""Sweeps: batches of edits beside the same edits one at a time, as traces have them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_lab.models import load_model
from attention_lab.models.data.alignment import align
from attention_lab.models.data.tasks import IGNORED, Reading, generator_of
from attention_lab.models.interventions import head_sweep
from attention_lab.models.interventions.attribution import attribute_heads
from attention_lab.models.interventions.head_paths import direct_heads
from attention_lab.models.interventions.head_sweep import Target, sweep_heads, sweep_positions
from tests.models.interventions.conftest import Letters

Make = Callable[..., Letters]
TEXT, OTHER = "abcabd", "fbgabc"
KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]


def number(trace: Any, target: str, plain: Any, written: torch.Tensor) -> float:
    """The same targets from whole logits, once more."""
    logits = trace["logits"].double()
    if target == "loss":
        return float(cross_entropy(logits[:-1], written[1:]))
    row, before = logits[2].softmax(-1), plain["logits"][2].double().softmax(-1)
    if target.startswith("kl"):
        return float((before * (before / row).log()).sum())
    if target.startswith("logit"):
        return float(logits[2, 3] - (logits[2, 5] if target.startswith("logits") else 0))
    return float(row[3])


TARGETS = ["probability of 3 at 2", "logit of 3 at 2", "logits 3-5 at 2", "kl at 2", "loss"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["zero", "mean"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_head_alone_does_in_a_batch_what_it_does_in_a_pass_of_its_own(
    letters: Make, kind: str, change: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "encoder-only" and target == "loss":
        return
    monkeypatch.setattr(head_sweep, "MOST_TOKENS", 18)  # three rows a batch
    lm = letters(kind)
    reading = lm.read(TEXT)
    plain, written = lm.trace(reading), reading.inputs[-1][0]
    shares: list[float] = []
    found = sweep_heads(lm, reading, target, change=change, progress=shares.append)
    assert shares[0] == 0 and shares == sorted(set(shares)) and len(shares) > 1
    assert found.before == pytest.approx(number(plain, target, plain, written), abs=1e-12)
    assert set(found.effects) == set(lm.stacks(tuple(reading.tokens)))
    for stack, effects in found.effects.items():
        side, name = stack.split(".")
        for layer in range(2):
            for head in range(2):
                edited = lm.trace(reading, edits=[f"{side}.{layer}.{name} heads {head}: {change}"])
                expected = number(edited, target, plain, written) - number(plain, target, plain, written)
                assert float(effects[layer, head]) == pytest.approx(expected, abs=1e-10)
                assert abs(expected) > 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_every_position_of_every_layer_is_patched_alone(letters: Make, kind: str) -> None:
    lm = letters(kind)
    reading = lm.read(TEXT)
    plain, target, written = lm.trace(reading), TARGETS[2], reading.inputs[-1][0]
    found = sweep_positions(lm, reading, target, OTHER)
    for side, effects in found.effects.items():
        assert effects.shape == (2, len(reading.tokens[side]))
        for layer in range(2):
            for at in range(effects.shape[1]):
                edited = lm.trace(reading, edits=[f'{side}.{layer}.resid_pre at {at}: from "{OTHER}"'])
                expected = number(edited, target, plain, written) - number(plain, target, plain, written)
                assert float(effects[layer, at]) == pytest.approx(expected, abs=1e-10)
    assert max(float(effects.abs().max()) for effects in found.effects.values()) > 1e-3


def test_a_classifier_s_one_answer_is_swept() -> None:
    lm = load_model("sentiment")
    reading = lm.read("the plot was dull , but the acting was anything but boring .")
    found = sweep_heads(lm, reading, "probability of 1 at 0")
    plain = lm.trace(reading)["logits"][0].softmax(-1)[1]
    edited = lm.trace(reading, edits=["encoder.1.self heads 2: zero"])["logits"][0].softmax(-1)[1]
    assert float(found.effects["encoder.self"][1, 2]) == pytest.approx(float(edited - plain), abs=1e-5)


def test_another_thread_s_pass_is_left_alone(letters: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = letters("decoder-only")
    reading = lm.read(TEXT)
    plain, alone, seen = lm.trace(reading)["logits"], sweep_heads(lm, reading, "kl at 2"), []
    logits = lm.logits

    def beside_another(*given: Any) -> Any:
        other = Thread(target=lambda: seen.append(logits(reading, 1, None)[0]))
        other.start()
        other.join()
        return logits(*given)

    monkeypatch.setattr(lm, "logits", beside_another)
    found = sweep_heads(lm, reading, "kl at 2")
    assert found.effects["decoder.self"].equal(alone.effects["decoder.self"])
    assert len(seen) > 1
    for each in seen:
        torch.testing.assert_close(each, plain, atol=1e-12, rtol=1e-10)


class StoppedError(Exception):
    pass


def test_who_is_told_may_stop_it_and_the_model_is_as_before(letters: Make) -> None:
    lm = letters("encoder-only")
    reading = lm.read(TEXT)
    plain = lm.trace(reading)["logits"]

    def stop(share: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        sweep_heads(lm, reading, "kl at 0", progress=stop)
    assert lm.trace(reading)["logits"].equal(plain)
    assert not any(module._forward_pre_hooks for module in lm.model.modules())


@pytest.mark.parametrize("line", [*TARGETS, "distance at 3", "score", 'logits cat-" dog" at -1'])
def test_a_target_is_its_line(line: str) -> None:
    assert str(Target.read(line)) == line and Target.read(f"  {line.replace(' ', '  ')} ") == Target.read(
        line
    )


NO_TARGETS = [
    "",
    "logits cat at 1",
    "logits the cat-dog at 1",
    'logit of "cat at 1',
    "kl at",
    "loss at 3",
    "logit of 3-5 at 1",
    "accuracy",
]


@pytest.mark.parametrize("line", NO_TARGETS)
def test_what_is_no_target_is_refused(line: str) -> None:
    with pytest.raises(ValueError) as error:
        Target.read(line)
    assert str(error.value) == (
        f"{line!r} is nothing to look at; write probability of cat at 3, logit of 7 at 3, "
        "logits cat-dog, kl at -1, distance at 3, loss, or score"
    )


def test_without_a_position_it_is_the_last() -> None:
    assert Target.read("logits cat-dog") == Target.read("logits cat-dog at -1")
    assert Target.read("kl") == Target.read("kl at -1")


@pytest.mark.parametrize("metric", ["logits c-e at 2", 'logits "c"-e at 2', "logits 3-e at 2"])
def test_a_word_of_the_vocabulary_names_its_output(letters: Make, metric: str) -> None:
    lm = letters("decoder-only")
    by_number, by_word = (sweep_heads(lm, TEXT, each) for each in ("logits 3-5 at 2", metric))
    assert by_word.target == by_number.target and by_word.before == by_number.before
    assert by_word.effects["decoder.self"].equal(by_number.effects["decoder.self"])
    grads = [lm.trace(TEXT, grad=each).grads["decoder.0.self.z"] for each in ("logits 3-5 at 2", metric)]
    assert grads[0].equal(grads[1])
    told = [attribute_heads(lm, TEXT, each).effects["decoder.self"] for each in ("logits 3-5 at 2", metric)]
    assert told[0].equal(told[1])


def test_a_word_of_several_pieces_is_refused_with_its_pieces() -> None:
    lm = load_model("masked")
    assert sweep_heads(lm, "the cat sleeps", "logits cat-dog at 2").target.outputs == tuple(
        lm.outputs.index(word) for word in ("cat", "dog")
    )
    refusals = {
        '"the cat"': 'is no single output of \'masked\': its pieces are "the", "cat"; name one of them',
        "zebras": 'is no single output of \'masked\': its pieces are "z", "##e", "##b", "##ra", "##s"; '
        "name one of them",
        '"cat "': "is no output of 'masked'; give a word of lm.outputs, or its number",
    }
    for word, sentence in refusals.items():
        with pytest.raises(ValueError) as error:
            sweep_heads(lm, "the cat sleeps", f"logit of {word} at 2")
        assert str(error.value) == f"{word} {sentence}"


REFUSED = {
    "probability of 11 at 0": "probability of 11 at 0: output 11 is not there; give 0 to 10",
    "kl at 6": "kl at 6: position 6 has no output; give 0 to 5",
    "loss": "loss is of what a decoder writes; choose another",
}


@pytest.mark.parametrize(("target", "sentence"), REFUSED.items())
def test_a_target_that_is_not_there_is_refused(letters: Make, target: str, sentence: str) -> None:
    lm = letters("encoder-only")
    with pytest.raises(ValueError) as error:
        sweep_heads(lm, lm.read(TEXT), target)
    assert str(error.value) == sentence


REFUSED_SWEEPS: list[tuple[str, dict[str, Any], str]] = [
    ("kl at 0", {"change": "half"}, "change='half' is unknown; choose one of zero, mean, from"),
    ("kl at 0", {"change": "from"}, 'another text goes with change="from", and with nothing else'),
    ("kl at 0", {"other": OTHER}, 'another text goes with change="from", and with nothing else'),
    ("score", {"by_position": True}, "score is of held-out examples with other positions"),
    (lambda trace: trace["logits"][0], {}, r"the metric gave \[11\] for a trace; give one number"),
]


@pytest.mark.parametrize(("metric", "how", "said"), REFUSED_SWEEPS)
def test_what_does_not_fit_a_sweep_is_refused(letters: Make, metric: Any, how: Any, said: str) -> None:
    lm = letters("encoder-only")
    with pytest.raises(ValueError, match=said):
        sweep_heads(lm, TEXT, metric, **how)


def test_lists_that_do_not_fit_several_texts_are_refused(letters: Make) -> None:
    lm = letters("decoder-only")
    with pytest.raises(ValueError, match="2 texts and 1 metrics; give as many, or one for all"):
        sweep_heads(lm, [TEXT, OTHER], ["kl at 0"])
    with pytest.raises(ValueError, match="the texts have 6 and 3 tokens, so their positions have no mean"):
        sweep_heads(lm, [TEXT, "abc"], "kl at 0", by_position=True)


def from_there(place: str, there: Any, head: int, here: torch.Tensor, partners: list[int]) -> Any:
    def put(address: str, z: torch.Tensor) -> torch.Tensor:
        if address != place:
            return z
        new = z.clone()
        new[head, here] = there[address][head, partners]
        return new

    return put


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", [OTHER, "abxcabd".replace("x", "j"), "abd"])
def test_every_head_is_patched_from_another_text_at_every_position(
    letters: Make, kind: str, other: str
) -> None:
    """Beside edits that put in, at one position, what a trace of the other text has at its partner."""
    lm = letters(kind)
    reading, target = lm.read(TEXT), "logits 3-5 at -1"
    plain, there = lm.trace(reading)["logits"], lm.trace(other)
    found = sweep_heads(lm, TEXT, target, change="from", other=other, by_position=True).effects
    whole = sweep_heads(lm, TEXT, target, change="from", other=other).effects
    for stack, effects in found.items():
        side, name = stack.split(".")
        n, of_text = len(reading.tokens[side]), side == next(iter(reading.tokens))
        partner = {at: at for at in range(n)}
        if of_text and len(other) != n:
            partner = {i: j for i, j in align(TEXT, other) if i is not None and j is not None}
        assert effects.shape == (2, 2, n)
        for head, ats in ((0, [n - 1]), (1, range(n)), (1, [2])):
            here = torch.tensor([at for at in ats if at in partner], dtype=torch.long)
            put = from_there(f"{side}.1.{name}.z", there, head, here, [partner[int(at)] for at in here])
            after = lm.trace(reading, edit=put)["logits"]
            expected = float((after - plain)[-1, 3] - (after - plain)[-1, 5])
            effect = whole[stack][1, head] if len(ats) > 1 else effects[1, head, ats[0]]
            assert float(effect) == pytest.approx(expected, abs=1e-10)
    assert max(float(each.abs().max()) for each in found.values()) > 1e-4


def test_positions_of_a_text_of_another_length_are_patched_where_tokens_have_partners(letters: Make) -> None:
    lm = letters("decoder-only")
    found = sweep_positions(lm, TEXT, "logits 3-5 at -1", "abjcabd").effects["decoder"]
    plain, there = lm.trace(TEXT), lm.trace("abjcabd")
    for at, partner in ((1, 1), (2, 3), (5, 6)):

        def put(address: str, x: torch.Tensor, at: int = at, partner: int = partner) -> torch.Tensor:
            if address != "decoder.1.resid_pre":
                return x
            return torch.cat([x[:at], there[address][[partner]], x[at + 1 :]])

        moved = (lm.trace(TEXT, edit=put)["logits"] - plain["logits"])[-1]
        assert float(found[1, at]) == pytest.approx(float(moved[3] - moved[5]), abs=1e-10)
    nothing = sweep_positions(lm, TEXT, "kl at -1", "j").effects["decoder"]
    assert float(nothing.abs().max()) < 1e-12


def test_a_metric_of_the_trace_is_that_of_each_edited_pass(letters: Make) -> None:
    lm = letters("encoder-decoder")
    reading = lm.read(TEXT)

    def looks(trace: Any) -> torch.Tensor:
        return trace["decoder.1.cross.pattern"][1, 2, 0] + trace["encoder.1.self.z"][0, 3, 1]

    before = float(looks(lm.trace(reading)))
    heads, patched = sweep_heads(lm, reading, looks), sweep_positions(lm, reading, looks, OTHER)
    assert heads.before == patched.before == before
    for stack, address in (("encoder.self", "encoder.1.self"), ("decoder.cross", "decoder.0.cross")):
        layer = int(address.split(".")[1])
        after = looks(lm.trace(reading, edits=[f"{address} heads 0: zero"]))
        assert float(heads.effects[stack][layer, 0]) == pytest.approx(float(after) - before, abs=1e-12)
    after = looks(lm.trace(reading, edits=[f'encoder.1.resid_pre at 4: from "{OTHER}"']))
    assert float(patched.effects["encoder"][1, 4]) == pytest.approx(float(after) - before, abs=1e-12)
    by_logits = sweep_heads(lm, reading, lambda logits: logits[:, 2, 3] - logits[:, 2, 5])
    by_trace = sweep_heads(lm, reading, lambda trace: trace["logits"][2, 3] - trace["logits"][2, 5])
    for stack, effects in by_logits.effects.items():
        torch.testing.assert_close(by_trace.effects[stack], effects)


def test_the_sweep_of_several_texts_is_the_mean_of_theirs(letters: Make) -> None:
    lm, shares = letters("decoder-only"), list[float]()
    texts, metrics = [TEXT, "abc", OTHER], ["logits 3-5 at -1", "logits 5-3 at -1", "kl at 0"]
    together = sweep_heads(lm, texts, metrics, progress=shares.append)
    each = [sweep_heads(lm, text, metric) for text, metric in zip(texts, metrics, strict=True)]
    assert together.before == pytest.approx(sum(sweep.before for sweep in each) / 3)
    expected = torch.stack([sweep.effects["decoder.self"] for sweep in each]).mean(0)
    torch.testing.assert_close(together.effects["decoder.self"], expected)
    assert shares == sorted(shares) and shares[0] == 0 and 2 / 3 <= shares[-1] < 1
    patched = sweep_positions(lm, [TEXT, OTHER], "kl at -1", [OTHER, TEXT]).effects["decoder"]
    both = (
        sweep_positions(lm, *pair).effects["decoder"]
        for pair in ((TEXT, "kl at -1", OTHER), (OTHER, "kl at -1", TEXT))
    )
    torch.testing.assert_close(patched, sum(both) / 2)


def test_a_distance_is_how_far_the_output_moved_as_a_share_of_itself(letters: Make) -> None:
    lm = letters("encoder-only")
    found = sweep_heads(lm, TEXT, "distance at -2")
    assert found.before == 0 and str(found.target) == "distance at 4"
    plain, after = (lm.trace(TEXT, edits=e)["logits"][4] for e in ((), "encoder.0.self heads 1: zero"))
    expected = float((after - plain).norm() / plain.norm())
    assert float(found.effects["encoder.self"][0, 1]) == pytest.approx(expected, abs=1e-10)


def test_a_metric_is_a_function_of_all_logits_and_places_count_from_the_end(letters: Make) -> None:
    lm = letters("decoder-only")
    reading = lm.read(TEXT)
    last = len(reading.tokens["decoder"]) - 1
    named = sweep_heads(lm, reading, f"logits 3-5 at {last}")
    for target in (lambda logits: logits[:, -1, 3] - logits[:, -1, 5], "logits 3-5 at -1"):
        found = sweep_heads(lm, reading, target)
        torch.testing.assert_close(found.effects, named.effects)
        patched = sweep_positions(lm, reading, target, OTHER).effects
        torch.testing.assert_close(patched, sweep_positions(lm, reading, str(named.target), OTHER).effects)
    assert str(sweep_heads(lm, reading, "kl at -1").target) == f"kl at {last}"
    with pytest.raises(ValueError, match=r"gave \[\] for logits \[1, "):
        sweep_heads(lm, reading, lambda logits: logits.mean())
    with pytest.raises(ValueError, match=f"position {-last - 2} has no output"):
        sweep_heads(lm, reading, f"kl at {-last - 2}")


def test_a_function_is_told_by_the_name_of_its_argument() -> None:
    assert Target.read(lambda trace: trace["logits"]).kind == "trace"
    for of_logits in (lambda logits: logits[:, 0, 0], lambda x: x[:, 0, 0], torch.logsumexp):
        assert Target.read(of_logits).kind == "metric"


def test_outputs_that_can_never_be_said_move_no_divergence() -> None:
    before = torch.tensor([[0.0, 1.0, -torch.inf]])
    after = torch.tensor([[1.0, 0.0, -torch.inf]])
    p, q = (logits[:, :2].double().softmax(-1) for logits in (before, after))
    found = Target("kl").values(after[None], before, Reading((), {}))
    torch.testing.assert_close(found, (p * (p / q).log()).sum(-1))


MODELS = ("induction", "digits-classifier")


def share_right(name: str, edits: list[str]) -> float:
    """Of 16 held-out examples, one pass each."""
    lm = load_model(name)
    right = asked = 0
    for reading, targets in lm.examples():
        best = lm.trace(reading, edits=edits)["logits"].argmax(dim=-1)
        where = targets != IGNORED
        right += int((best == targets)[where].sum())
        asked += int(where.sum())
    return right / asked


@pytest.mark.parametrize("name", MODELS)
def test_each_head_alone_costs_the_answers_that_it_costs_one_by_one(name: str) -> None:
    lm = load_model(name)
    batch = lm.task.batch(generator_of(0, 0), 16, held_out=True)
    with torch.no_grad():
        logits, targets = lm.task.answers(lm.model, batch)
    shares: list[float] = []
    found = sweep_heads(lm, lm.examples()[0].reading, "score", progress=shares.append)
    assert found.before == pytest.approx(float((logits.argmax(-1) == targets).double().mean()))
    assert len(shares) == 16 and shares == sorted(shares)
    for stack, effects in found.effects.items():
        side, kind = stack.split(".")
        layer, head = divmod(int(effects.argmin()), effects.shape[1])
        off = share_right(name, [f"{side}.{layer}.{kind} heads {head}: zero"])
        assert float(effects[layer, head]) == pytest.approx(off - found.before)
    assert min(float(effects.min()) for effects in found.effects.values()) < 0


def test_a_mean_in_place_of_a_head_is_of_each_example_alone() -> None:
    lm = load_model("translator")  # its examples are of several lengths
    found = sweep_heads(lm, lm.read("the cat sleeps"), "score", change="mean")
    effects = found.effects["decoder.cross"]
    layer, head = divmod(int(effects.argmin()), effects.shape[1])
    off = share_right("translator", [f"decoder.{layer}.cross heads {head}: mean"])
    assert float(effects[layer, head]) == pytest.approx(off - found.before)


def test_where_there_is_no_score_a_sentence_says_so() -> None:
    lm = load_model("digits-autoencoder")
    assert not lm.scored
    with pytest.raises(ValueError) as error:
        sweep_heads(lm, lm.read("1"), "score")
    assert str(error.value) == ("'digits-autoencoder' has no held-out examples, so no score; choose another")
    lm = load_model("translator")
    reading, sentence = lm.read("the cat sleeps"), "score is of held-out examples, not of this text"
    with pytest.raises(ValueError, match=sentence):
        direct_heads(lm, reading, "score")
    with pytest.raises(ValueError, match=sentence):
        sweep_positions(lm, reading, "score", "the cat sleeps")
