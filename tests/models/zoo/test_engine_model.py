"""A model of any task, from its card or from its run, in use; what does not fit is refused in a sentence."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from attention_lab.models import ModelConfig, Trace, Transformer, UntrainedModel, load_model
from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine import masks
from attention_lab.models.zoo import FileError
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.models.zoo.model import format_of, in_format_of, sharing_weights
from attention_lab.models.zoo.model_file import write_model

SIZES = {"n_layers": 2, "n_heads": 2, "d_model": 16}


def model_of(task, seed=3):
    return Transformer(ModelConfig(**{"kind": task.kind, **SIZES, **task.required_sizes()}), seed=seed)


def card_of(task):
    return {"task": {"name": task.name, "options": task.to_dict()}, "learnt": task.learnt()}


@pytest.fixture
def reverse():
    return make_task("reverse", {"length": 6})


@pytest.fixture
def folder(tmp_path, reverse):
    write_model(tmp_path / "mine", "mine", model_of(reverse), card_of(reverse))
    return tmp_path / "mine"


@pytest.fixture
def run(tmp_path, reverse):
    path, model = tmp_path / "reverse-1", model_of(reverse)
    path.mkdir()
    config = {"version": 1, "task": card_of(reverse)["task"], "model": model.config.to_dict()}
    (path / "config.json").write_text(json.dumps(config))
    (path / "task.json").write_text("{}")
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    save_file({**tensors, "optimizer.0.step": torch.ones(1)}, path / "checkpoint.safetensors")
    return path


@pytest.mark.parametrize("source", ["folder", "run"])
def test_a_model_comes_back_with_its_task(source, reverse, request):
    path = request.getfixturevalue(source)
    lm = load_model(path)
    assert isinstance(lm, TrainedModel)
    assert lm.name == path.name
    assert lm.task == reverse
    assert lm.outputs == reverse.outputs()
    assert not lm.model.training
    before = model_of(reverse).state_dict()
    assert all(torch.equal(value, before[name]) for name, value in lm.model.state_dict().items())


def test_a_trace_holds_the_answer_that_the_model_itself_writes(folder, reverse):
    lm = load_model(folder)
    ids = [lm.outputs.index(letter) for letter in "abca="]
    model = model_of(reverse).eval()
    for _ in range(4):
        ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
    trace = lm.trace("abca")
    assert trace.tokens == {"decoder": [lm.outputs[at] for at in ids[:-1]]}
    torch.testing.assert_close(trace["logits"], model(torch.tensor([ids[:-1]]))[0].detach())
    assert lm.read("abca").answer == "".join(lm.outputs[at] for at in ids[5:])
    kept = lm.trace("abca", reduce=lambda address, tensor: tensor if address == "logits" else None)
    assert list(kept.keys()) == ["logits"]


def test_an_encoder_reads_and_writes_nothing():
    task = make_task("digits-classifier")
    lm = TrainedModel("digits", task, model_of(task), card_of(task))
    reading = lm.read("7")
    assert (reading.answer, reading.following, lm.abilities) == ("", None, ("classify",))
    assert lm.outputs == tuple("0123456789")
    trace = lm.trace("7")
    assert trace["logits"].shape == (1, 10)
    assert trace.tokens["encoder"] == reading.tokens["encoder"]
    torch.testing.assert_close(trace["logits"], lm.model(*reading.inputs)[0].detach())
    with pytest.raises(ValueError, match=r"kind='encoder-only' does not go on writing; ask a decoder-only"):
        lm.generate("7")


@pytest.fixture
def induction():
    task = make_task("induction", {"length": 8, "letters": 12})
    return TrainedModel("induction", task, model_of(task), card_of(task))


def test_temperature_zero_writes_the_likeliest_token_again_and_again(induction):
    ids = induction.read("abc").inputs[0]
    for _ in range(5):
        best = induction.model(ids)[0, -1].argmax()
        ids = torch.cat([ids, best.view(1, 1)], dim=1)
    written = induction.generate("abc", max_new_tokens=5, temperature=0)
    assert written == induction.task.written(ids[0, 3:].tolist())


def test_what_is_drawn_depends_on_the_seed_alone(induction):
    once, again, other = (induction.generate("abc", max_new_tokens=10, seed=seed) for seed in (1, 1, 2))
    assert once == again != other
    torch.manual_seed(5)
    assert induction.generate("abc", max_new_tokens=10, seed=1) == once


def test_of_a_long_prompt_the_end_is_read(induction):
    text = "abcdefghabcdefgh"  # as many letters as it can read
    assert induction.generate(text, max_new_tokens=6, seed=1) == induction.generate(
        text[6:], max_new_tokens=6, seed=1
    )
    with pytest.raises(ValueError, match=r"temperature=-1\.0 must be a positive number"):
        induction.generate("abc", temperature=-1.0)


def test_what_is_written_joins_the_text_as_far_as_it_can_be_read(induction):
    assert induction.fitted("abc", "de") == "abcde"
    assert induction.fitted("a b c", "d") == "a b cd"  # as it was typed
    assert induction.fitted("abcdefghabcd", "efghab") == "cdefghabcdefghab"


def change(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"task": {"name": "juggle", "options": {}}}, "has no valid task: task='juggle' is unknown"),
        ({"task": {"name": "reverse", "options": {"length": 99}}}, "has no valid task: length=99"),
        ({"task": {"name": "reverse", "options": {"size": 9}}}, "has no valid task: 'size' is no option"),
        ({"task": {"options": {}}}, "has no valid task: it lacks 'name'"),
        ({"task": "reverse"}, "has no valid task"),
        (
            {"task": {"name": "reverse", "options": {"length": 5}}},
            "task 'reverse' needs max_len=11, but the model has max_len=13; choose the description",
        ),
        (
            {"task": {"name": "sentiment", "options": {}}},
            "has no valid task: shown=None is not what was learnt",
        ),
    ],
)
def test_a_task_that_the_model_cannot_do_is_refused(folder, run, changes, text):
    change(folder / "card.json", **changes)
    change(run / "config.json", **changes)
    for path in (folder, run):
        with pytest.raises(FileError, match=text):
            load_model(path)


def test_a_card_must_state_what_its_task_has_learnt(folder):
    card = json.loads((folder / "card.json").read_text())
    del card["learnt"]
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(FileError, match="lacks learnt; restore it"):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"version": 2}, "is of version 2, but this program reads up to 1; use a newer"),
        ({"model": {**SIZES, "kind": "decoder-only"}}, "has no valid config: vocab_size, max_len missing"),
    ],
)
def test_a_run_with_another_config_is_refused(run, changes, text):
    change(run / "config.json", **changes)
    with pytest.raises(FileError, match=text):
        load_model(run)


def test_a_checkpoint_with_another_models_weights_or_half_of_one_is_refused(run):
    path = run / "checkpoint.safetensors"
    tensors = load_file(path)
    del tensors["model.decoder.norm.weight"]
    save_file(tensors, path)
    with pytest.raises(FileError, match=r"lacks decoder\.norm\.weight"):
        load_model(run)
    for cut in (500, 0):
        path.write_bytes(path.read_bytes()[:cut])
        with pytest.raises(FileError, match="is no whole safetensors file"):
            load_model(run)


@pytest.mark.parametrize("name", ["config.json", "task.json"])
def test_a_run_without_one_of_its_files_is_refused(run, name):
    (run / name).write_text("[")
    with pytest.raises(FileError, match=rf"{name}' is no JSON"):
        load_model(run)
    (run / name).unlink()
    missing = "holds no run: config.json is missing" if name == "config.json" else f"{name}' does not exist"
    with pytest.raises(FileError, match=missing):
        load_model(run)


# The untrained model: its masks, its padding, its words, against the engine called by hand.

TEXT = "a b a c"


def config(**changes) -> ModelConfig:
    sizes = {"n_layers": 2, "n_heads": 2, "d_model": 16, "vocab_size": 9, "max_len": 11}
    return ModelConfig(kind="encoder-only", **(sizes | changes))


def by_hand(ids: list[int], mask: torch.Tensor | None = None) -> Trace:
    trace = Trace()
    Transformer(config(), seed=5).eval()(torch.tensor([ids]), mask=mask, trace=trace)
    return trace


@pytest.mark.parametrize(
    ("mask", "ids"),
    [
        ("none", [1, 2, 1, 3]),
        ("causal", [1, 2, 1, 3]),
        ("padding", [1, 2, 1, 3, 0, 0, 0]),
        ("causal+padding", [1, 2, 1, 3, 0, 0, 0]),
    ],
)
def test_it_is_the_engine_with_that_mask(mask, ids):
    trace = UntrainedModel(config(), seed=5).trace(TEXT, mask=mask)
    extra = masks.causal(len(ids), len(ids)) if "causal" in mask else None
    expected = by_hand(ids, extra)
    assert list(trace) == list(expected)
    for address in trace:
        torch.testing.assert_close(trace[address], expected[address], rtol=0, atol=0)


def test_words_are_named_in_order_of_appearance():
    model = UntrainedModel(config())
    assert model.names(model.read(TEXT)) == ("<pad>", "a", "b", "c")
    assert model.trace(TEXT, mask="padding").tokens == {
        "encoder": ["a", "b", "a", "c", "<pad>", "<pad>", "<pad>"]
    }


def test_what_cannot_be_read_is_refused():
    model = UntrainedModel(config())
    with pytest.raises(ValueError, match="the text is empty; give at least one word"):
        model.trace(" ")
    with pytest.raises(ValueError, match="the text has 9 words, but this model reads at most 8; remove 1"):
        model.trace("w " * 9)
    with pytest.raises(ValueError, match="kind='decoder-only', pad_id=0: an untrained model"):
        UntrainedModel(ModelConfig(**(config().to_dict() | {"kind": "decoder-only"})))


@pytest.mark.parametrize(("mask", "argument"), [("causal+window", "2"), ("painted", "1000;0111;0000;1111")])
def test_each_mask_of_the_engine_is_the_models(mask, argument):
    allowed = masks.named(mask, argument, 4)
    trace = UntrainedModel(config(), seed=5).trace(TEXT, mask=mask, mask_arg=argument)
    expected = by_hand([1, 2, 1, 3], allowed)
    for address in trace:
        torch.testing.assert_close(trace[address], expected[address], rtol=0, atol=0)
    assert torch.equal(trace["encoder.0.self.pattern"] > 0, allowed[0].expand(2, 4, 4))


@pytest.mark.parametrize(
    ("mask", "argument", "sentence"),
    [
        ("window", "wide", "argument 'wide' of mask 'window' is not a width in tokens; try '4'"),
        ("padding", "2", "mask='padding' hides the 3 <pad> that it adds and takes no argument, not '2'"),
    ],
)
def test_a_bad_argument_is_refused(mask, argument, sentence):
    with pytest.raises(ValueError, match=sentence):
        UntrainedModel(config()).trace(TEXT, mask=mask, mask_arg=argument)


# A network made anew around the same weights.

SMALL = {"n_layers": 1, "n_heads": 2, "d_model": 8, "vocab_size": 9, "max_len": 8}


def test_weights_are_shared_modules_are_not_and_hooks_stay_behind() -> None:
    net = Transformer(ModelConfig(kind="decoder-only", **SMALL), seed=0).eval()
    heard: list[str] = []
    handle = net.decoder.register_forward_hook(lambda *given: heard.append("hook"))
    made, first = sharing_weights(net, (net, net.decoder.layers[0]))
    assert made.decoder.layers[0] is first and first is not net.decoder.layers[0]
    for one, other in zip(net.parameters(), made.parameters(), strict=True):
        assert one is other
    ids = torch.tensor([[1, 2, 3]])
    assert made(ids).equal(net(ids)) and heard == ["hook"]
    made.decoder.causal = False
    assert net.decoder.causal
    handle.remove()


def test_what_is_read_comes_in_the_format_of_the_weights() -> None:
    net = nn.Linear(2, 2).half()
    ids, pixels = in_format_of(net, (torch.tensor([1]), torch.tensor([0.5])))
    assert (ids.dtype, pixels.dtype, format_of(net)) == (torch.int64, torch.float16, torch.float16)
