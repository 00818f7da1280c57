"""Tokenizers of tasks as those of transformers: the same ids, after a trip through their files."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from attention_lab.models.data.tasks import make_task
from attention_lab.models.data.word_tokenizer import SPECIALS
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
        ("parallel-text", {}, "the animal was too tired"),
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


def test_tasks_that_write_tell_where_a_text_begins_and_ends() -> None:
    bos, eos = SPECIALS.index("<bos>"), SPECIALS.index("<eos>")
    found = special_ids(make_task("parallel-text", {}))
    assert found == {"bos_token_id": bos, "eos_token_id": eos, "decoder_start_token_id": bos}
    assert special_ids(make_task("masked", {})) == {}


def test_tasks_without_such_tokens_have_none() -> None:
    assert tokenizer_of(make_task("induction", {})) is None
    assert tokenizer_of(make_task("digits-classifier", {})) is None
