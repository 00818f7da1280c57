"""Tokenizers of tasks as those of transformers: the same ids, after a trip through their files."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from attention_lab.models import ModelConfig, Transformer, load_model
from attention_lab.models.data.tasks import make_task
from attention_lab.models.data.word_tokenizer import SPECIALS
from attention_lab.models.runs.export import FORMATS
from attention_lab.models.zoo.hub.from_engine import special_ids, tokenizer_of

TEXT = "The keys' café, isn't it?\n"


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("language-model", {}, "the animal"),
        ("language-model", {"tokens": "bpe", "vocabulary": 300}, TEXT + "日本 🙂"),
        ("masked", {}, "the animal did not cross the street because it was too tired."),
        ("masked", {}, "A strange wörd, isn't it?"),
        ("sentiment", {}, "this film is not good at all"),
        ("everyday", {"vocabulary": 300}, "the animal was too tired"),
        ("translation", {}, "The animal did not cross the street, because it was too tired."),
        ("reverse", {}, "cab="),
        ("induction", {}, "abcabc"),
        ("modular-addition", {}, "4 33 ="),
        ("needle", {}, "the code of hugo 53 54 19 . what ? the code of hugo"),
    ],
)
def test_a_text_has_the_ids_that_the_task_gives_it(
    name: str, options: dict[str, object], text: str, tmp_path: Path
) -> None:
    task = make_task(name, options)
    tokenizer_of(task).save_pretrained(tmp_path)
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    read = task.read(text)
    assert theirs(text)["input_ids"] == read.inputs[0][0].tolist()
    if name == "language-model":
        assert theirs.decode(read.inputs[0][0]) == text


def test_an_export_reads_the_same_text_in_another_program(tmp_path: Path) -> None:
    """Both in one fresh process, since to import transformers takes longer than all the rest."""
    letters = make_task("reverse", {})
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 16, "positions": "learned", "activation": "gelu"}
    config = ModelConfig(kind=letters.kind, **{**sizes, **letters.required_sizes(), "norm": "pre"})
    translator = load_model("translator")
    exported = [
        (translator.task, translator.model, "the cat sleeps."),
        (letters, Transformer(config, seed=0).eval(), "cab="),
    ]
    program = "import json, os, torch\n"
    for at, (task, model, text) in enumerate(exported):
        folder = tmp_path / str(at)
        folder.mkdir()
        FORMATS["transformers"](task, model, {"summary": "", "license": ""}, folder, "model")
        (code,) = re.findall("```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
        program += (
            f"os.chdir({str(folder)!r})\n{code}\n"
            f"read = tokenizer({text!r}, return_tensors='pt')['input_ids']\n"
            "given = {'input_ids': read}\n"
            "if model.config.is_encoder_decoder:\n    given['decoder_input_ids'] = torch.tensor([[1]])\n"
            "with torch.no_grad():\n    logits = model.eval()(**given).logits\n"
            "print(json.dumps([read.tolist(), logits[0, -1].tolist()]))\n"
        )
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""},
    )  # fmt: skip
    for (task, model, text), line in zip(exported, said.stdout.splitlines()[-2:], strict=True):
        ids, logits = json.loads(line)
        inputs = task.read(text).inputs
        assert ids == inputs[0].tolist()
        with torch.no_grad():
            expected = model(inputs[0], torch.tensor([[1]])) if len(inputs) == 2 else model(inputs[0])
        torch.testing.assert_close(torch.tensor(logits), expected[0, -1], atol=1e-5, rtol=1e-5)


def test_tasks_that_write_tell_where_a_text_begins_and_ends() -> None:
    bos, eos = SPECIALS.index("<bos>"), SPECIALS.index("<eos>")
    found = special_ids(make_task("translation", {}))
    assert found == {"bos_token_id": bos, "eos_token_id": eos, "decoder_start_token_id": bos}
    assert special_ids(make_task("masked", {})) == {}


def test_tasks_without_such_tokens_have_none() -> None:
    assert tokenizer_of(make_task("digits-classifier", {})) is None
