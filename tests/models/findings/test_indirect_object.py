"""Indirect objects: logits and weights of a small random GPT-2, read again from transformers' own."""

from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.indirect_object import NAMES, TEMPLATES, prompts

FINDING = findings()["indirect-object"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of two layers whose tokenizer knows every word of the prompts."""
    made, found = Tokenizer(models.BPE()), tmp_path_factory.mktemp("gpt2")
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=900, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(
        [text.format(io=a, s=b) for text in TEMPLATES for a in NAMES for b in NAMES], trainer
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4, n_positions=64,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.GPT2LMHeadModel(config)
        for parameter in model.parameters():
            parameter.data += 0.2 * torch.randn_like(parameter)
    model.save_pretrained(found)
    tokenizer.save_pretrained(found)
    return found


def test_numbers_are_those_of_transformers_own_model(folder: Path) -> None:
    found = FINDING.measured(load_model(f"hf:{folder}"), texts=5)
    untouched = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    differences, chances, weights = [], [], []
    for at, (io, s) in enumerate([("Mary", other) for other in ("John", "Tom", "James", "Anna", "Paul")]):
        ids = tokenizer(TEMPLATES[at % 4].format(io=io, s=s), return_tensors="pt")["input_ids"]
        (right,), (wrong,) = tokenizer(f" {io}")["input_ids"], tokenizer(f" {s}")["input_ids"]
        with torch.no_grad():
            made = untouched(ids, output_attentions=True)
        row = made.logits[0, -1].double()
        differences.append(float(row[right] - row[wrong]))
        chances.append(float(row.exp()[right] / row.exp().sum()))
        place = ids[0].tolist().index(right)
        weights.append([float(layer[0, head, -1, place]) for layer in made.attentions for head in range(4)])
    numbers = [number.value for number in found.numbers]
    assert numbers[0] == pytest.approx(sum(differences) / 5, abs=1e-4)
    assert numbers[1] == pytest.approx(sum(each > 0 for each in differences) / 5)
    assert numbers[2] == pytest.approx(sum(chances) / 5, abs=1e-5)
    means = {f"L{at // 4} H{at % 4}": sum(row[at] for row in weights) / 5 for at in range(8)}
    best = max(means, key=lambda name: means[name])
    assert numbers[3] == pytest.approx(means[best], abs=1e-5)
    assert found.charts[0].x[0] == best
    assert dict(zip(found.charts[0].x, found.charts[0].series["weight"], strict=True)) == pytest.approx(
        means, abs=1e-5
    )


def test_prompts_name_the_object_once_and_the_subject_twice(folder: Path) -> None:
    for prompt in prompts(load_model(f"hf:{folder}"), 8):
        ids = prompt.reading.inputs[0][0].tolist()
        assert (ids.count(prompt.object), ids.count(prompt.subject)) == (1, 2)
        assert ids[prompt.place] == prompt.object


def test_a_model_of_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="'shakespeare' lacks first names as single tokens"):
        FINDING.measured(load_model("shakespeare"))
