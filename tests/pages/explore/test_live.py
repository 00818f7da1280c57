"""What a browser makes of a shipped model by itself is what the server makes of it."""

import gzip
import json
import random
import re
import subprocess
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models import load_model
from attention_lab.models.data.grammar import sample_pairs
from attention_lab.models.zoo.families import FAMILIES, Family
from attention_lab.pages.explore.live import live_models, write_live
from attention_lab.viz_core.viewer.message import to_json
from benchmarks.live import compared, wishes
from tests.conftest import SHARED_DATA
from tools.javascript import NODE, ROOT, install

SENTENCES = 5_000
ODD = [
    *map(chr, chain(range(0x20, 0x250), range(0x300, 0x370), range(0x900, 0x980), range(0x1100, 0x1200))),
    *"\t\n\r\x85\u200b\u200d\ufe0f\ufeff ’…İΣςẞﬁΩ中가אَ🇫🇷😀👩‍💻½²",
]
WORDS = ["the", "didn't", "l'", "<unk>", "<UNK>", "[MASK]", "don’t", "rendez-vous", "été", "İstanbul", "ΣΑΣ"]
RUN = """
import { readFileSync } from "node:fs";
import { alike, decode, encode, spoken, words } from "./viz_core/viewer/live/tokens.js";
const { tokenizers, texts, typos } = JSON.parse(readFileSync(0, "utf8"));
const [known, ...others] = tokenizers;
const read = (text) => {
  const { ids, tokens, unknown } = words(known, text, []);
  return [ids, tokens, unknown.map(({ text, start, end }) => [text, start, end]), spoken(known, ids, true)];
};
const near = typos.map((word) => words(known, word).unknown.map(({ suggestions }) => suggestions));
const both = (tokenizer) => (text) => [encode(tokenizer, text), decode(tokenizer, encode(tokenizer, text))];
const pieces = others.map((each) => texts.map(both(each)));
process.stdout.write(JSON.stringify([texts.map(read), ...pieces, near]));
"""


def sentences() -> list[str]:
    """Of the grammar, of Tatoeba where it is there, and of signs that nobody types."""
    rng = random.Random(0)

    def sign() -> str:
        return rng.choice(ODD) if rng.random() < 0.6 else f"{rng.choice(WORDS)} "

    odd = ["".join(sign() for _ in range(rng.randrange(25))) for _ in range(SENTENCES // 5)]
    everyday: list[str] = []
    if SHARED_DATA.is_dir():
        table = gzip.decompress((SHARED_DATA / "tatoeba" / "eng-fra.tsv.gz").read_bytes()).decode()
        rows = rng.sample(table.splitlines(), SENTENCES // 5)
        everyday = [text for row in rows for text in row.split("\t")[:2]]
    pairs = islice(sample_pairs(3, "held out"), (SENTENCES - len(odd) - len(everyday)) // 2)
    return [*odd, *everyday, *(" ".join(side) for pair in pairs for side in (pair.english, pair.french))]


def test_tokenizers_in_javascript_read_as_those_of_python() -> None:
    word = load_model("translator").task.words
    models = [load_model(name) for name in ("everyday", "masked", "shakespeare")]
    pieces = [model.card["learnt"]["tokenizer"] for model in models]
    vocabulary = {
        "kind": "words",
        "vocabulary": word.vocabulary,
        "n_specials": 6,
        "unknown_id": 3,
        "merges": [],
    }
    texts, typos = sentences(), ["animl", "zebra", "strete", "tierd", "chein", "ÉCOLLE", "x" * 50]
    given = to_json({"tokenizers": [vocabulary, *pieces], "texts": texts, "typos": typos})
    done = subprocess.run(
        [NODE / "bin" / "node", "--input-type=module", "-e", RUN],
        input=given,
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    read, *others, near = json.loads(done.stdout)
    assert len(texts) == SENTENCES
    for text, (ids, tokens, unknown, spoken) in zip(texts, read, strict=True):
        encoded = word.encode(text, among=())
        assert (ids, tokens) == (encoded.ids, encoded.tokens), text
        assert unknown == [[each.text, each.start, each.end] for each in encoded.unknown], text
        assert spoken == word.decode(ids, language="fr"), text
    for model, rows in zip(models, others, strict=True):
        tokenizer = getattr(model.task, "tokenizer", None) or model.task._pieces
        for text, (ids, decoded) in zip(texts, rows, strict=True):
            assert ids == tokenizer.encode(text), text
            assert decoded == tokenizer.decode(ids), text
    assert near == [[each.suggestions for each in word.encode(typo).unknown] for typo in typos]


def asked_of(name: str) -> list[dict[str, Any]]:
    asked = wishes(name, 20)
    return asked + [{**asked[0], "text": text} for text in ("", "word " * 300, "§ zzz!")]


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("name", ["masked", "long-memory"])
def test_messages_are_those_of_the_server(name: str, tmp_path: Path) -> None:
    install()
    assert write_live(name, tmp_path) < 1e-4
    problems, milliseconds = compared(tmp_path, {name: asked_of(name)})[name]
    assert not problems, problems[:3]
    assert len(milliseconds) >= 20


@pytest.mark.usefixtures("unchecked_shapes")
def test_messages_of_a_translator_that_is_a_family_s_member_are_those_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    family, file = FAMILIES["translator-sizes"], "translator-sizes.n_heads-8"
    few = {name: values for name, values in family.members().items() if name.endswith("heads-8")}
    monkeypatch.setattr(Family, "members", lambda self: few)
    assert write_live(family.name, tmp_path) < 1e-4
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{file}.{kind}" for kind in ("bin", "onnx")}
    weights = 4 * load_model("translator-sizes/n_heads-8").card["parameters"]
    assert (tmp_path / f"{file}.onnx").stat().st_size < 0.7 * weights  # which are float16 numbers
    asked = [{**wish, "model": family.name} for wish in asked_of(family.name)]
    for wish in asked:
        wish["settings"] |= {"n_heads": 8}
    problems, _ = compared(tmp_path, {file: asked})[file]
    assert not problems, problems[:3]


def test_models_that_need_the_app_say_so() -> None:
    reasons = {name: why for name, why in live_models().items() if why}
    assert reasons.keys() == {"digits-autoencoder", "digits-classifier", "untrained", "positions", "sinks"}
    assert all(re.fullmatch("The app .+ “.+”.*", why) for why in reasons.values())
