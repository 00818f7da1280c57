"""Heads along syntax: counted again, word by word, from what transformers gives of a small random BERT."""

from itertools import islice
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from attention_lab.models import load_model
from attention_lab.models.data.grammar.annotations import RELATIONS, dependencies
from attention_lab.models.findings import findings
from attention_lab.models.findings.syntax_heads import parsed
from tests.models.zoo.hub.families import save

FINDING = findings()["syntax-heads"]
TEXTS = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers whose tokenizer knows all letters, and splits most words of the grammar."""
    made, found = Tokenizer(models.WordPiece(unk_token="[UNK]")), tmp_path_factory.mktemp("bert")
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False)
    made.train_from_iterator((text for text, _ in islice(parsed(), 300)), trainer)
    pair = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=pair)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip
    save("bert", found, max_position_embeddings=256, vocab_size=len(tokenizer))
    tokenizer.save_pretrained(found)
    return found


def counted(folder: Path) -> tuple[dict[str, list[float]], dict[str, dict[int, float]]]:
    """Of each relation: the shares of every direction and head, and of every offset."""
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    right: dict[str, list[list[bool]]] = {name: [] for name in RELATIONS}
    at_offset: dict[str, list[list[bool]]] = {name: [] for name in RELATIONS}
    for _, pair in islice(parsed(), TEXTS):
        read = tokenizer(list(pair.english), is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            attentions = torch.cat(model(**read, output_attentions=True).attentions, dim=1)[0]
        words, n = read.word_ids(), len(pair.english)
        assert len(words) > n + 2  # some words are split
        for relation, dependent, head in dependencies(pair):
            said = []
            for looks in (True, False):
                for weights in attentions.tolist():
                    shares = {}
                    for other in range(n):
                        if other == dependent:
                            continue
                        a, b = (dependent, other) if looks else (other, dependent)
                        rows = [row for row, word in zip(weights, words, strict=True) if word == a]
                        cells = [
                            sum(x for x, word in zip(row, words, strict=True) if word == b) for row in rows
                        ]
                        shares[other] = sum(cells) / len(cells)
                    said.append(max(shares, key=lambda word: shares[word]) == head)
            right[relation].append(said)
            at_offset[relation].append([min(max(dependent + by, 0), n - 1) == head for by in range(-3, 3)])
    shares_of = {name: [sum(x) / len(x) for x in zip(*said, strict=True)] for name, said in right.items()}
    offsets = {
        name: dict(zip(range(-3, 3), (sum(x) / len(x) for x in zip(*said, strict=True)), strict=True))
        for name, said in at_offset.items()
    }
    return shares_of, offsets


def test_shares_are_those_of_a_loop_over_words(folder: Path) -> None:
    found = FINDING.measured(load_model(f"hf:{folder}"), texts=TEXTS)
    heads, offsets = counted(folder)
    relations = [number.label.split(",")[0] for number in found.numbers]
    assert relations == [name for name in RELATIONS if heads[name]]
    assert [number.value for number in found.numbers] == pytest.approx(
        [max(heads[name]) for name in relations]
    )
    drawn = found.charts[0].series["right"]
    assert drawn[1::2] == pytest.approx([max(offsets[name].values()) for name in relations])
    better = [name for name in relations if max(heads[name]) >= max(offsets[name].values()) + 0.3]
    assert found.holds == (better == relations)
    assert f"at {len(better)} of {len(relations)} relations" in found.said


def test_a_model_of_pictures_is_refused() -> None:
    with pytest.raises(ValueError, match="'digits-classifier' cannot read any of the texts"):
        FINDING.measured(load_model("digits-classifier"))
