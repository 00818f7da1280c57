"""A model of transformers in a browser: its message is that of our engine, its tokens those of Python."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pytest
import transformers
from tokenizers import Tokenizer

from attention_lab.models.zoo import catalogue as known
from attention_lab.models.zoo.hub.in_engine import open_in_engine
from attention_lab.models.zoo.onnx_parts import MOST_LEVEL, STEPS, parts, rounded
from attention_lab.pages.explore import live
from attention_lab.viz_core.viewer.message import header_of
from tests.models.zoo.hub import families
from tools.javascript import NODE, ROOT, install

HARD = [
    "the animal did not cross the street",
    "  two  blanks ",
    "né à Zürich — “quoted”",
    "👩‍💻 and 🇫🇷!",
    "don't\n\nstop",
    "ﬁne ½ İstanbul ΣΑΣ",
    "中文 and עברית",
    "tab\there",
    "x" * 200,
    "1234567 + 89",
    "<|endoftext|> [MASK] end",
]
RUN = """
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import * as runtime from "onnxruntime-web/wasm";
import { Tokenizer } from "@huggingface/tokenizers";
import { readMessage } from "./viz_core/viewer/browser/message.js";
import { Live } from "./viz_core/viewer/live/live.js";
import { fill } from "./viz_core/viewer/live/parts.js";
import { decode, encode } from "./viz_core/viewer/live/tokens.js";
const { folder, names, texts, edits } = JSON.parse(readFileSync(0, "utf8"));
runtime.env.wasm.numThreads = 1;
const answers = {};
for (const name of names) {
  const model = readMessage(new Uint8Array(readFileSync(`${folder}/${name}.bin`)));
  const tensors = new Map();
  const [words, graph, ...weights] = Object.keys(model.sizes).map((file) =>
    new Uint8Array(gunzipSync(readFileSync(`${folder}/${file}`))));
  for (const each of weights) for (const piece of readMessage(each).pieces) fill(tensors, piece);
  const { file, config, pieces, left } = JSON.parse(new TextDecoder().decode(words));
  const own = new Tokenizer(file, config);
  const mask = config.mask_token?.content ?? config.mask_token;
  Object.assign(model, { tokenizer: { kind: "own", own, mask }, pieces, names: pieces, left: new Set(left) });
  const externalData = [...tensors].map(([path, { buffer }]) => ({ path, data: new Uint8Array(buffer) }));
  const session = await runtime.InferenceSession.create(graph, { externalData });
  if (!session.outputNames.includes("logits")) model.names = [];
  const live = new Live(runtime, session, model);
  const { reading } = await live.messageOf({ text: model.text, settings: {}, edits });
  const trace = await live.trace(reading.inputs, [], [/pattern$|^logits$/]);
  const ids = texts.map((text) => encode(model.tokenizer, text));
  answers[name] = {
    ids,
    written: ids.map((each) => decode(model.tokenizer, each)),
    tokens: Object.values(reading.tokens)[0],
    trace: Object.fromEntries(Object.entries(trace).map(([at, { data }]) => [at, [...data]])),
  };
}
process.stdout.write(JSON.stringify(answers));
"""
NAMES = ("half", "llama", "bert", "minilm")


def save(name: str, folder: Path) -> Path:
    """A small model of a family; MiniLM is a BERT without a head, whose tokenizer's file cuts texts, and half
    a GPT-2 whose weights are written as float16.
    """
    family = {"minilm": "bert", "half": "gpt2"}.get(name, name)
    sizes = {"n_embd": 64} if family == "gpt2" else {"hidden_size": 64, "num_attention_heads": 4}
    families.save(family, folder, **sizes)
    if name == "minilm":
        transformers.BertModel.from_pretrained(folder).save_pretrained(folder)
        file = folder / "tokenizer.json"
        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.enable_truncation(8)
        tokenizer.enable_padding(length=8)
        tokenizer.save(str(file))
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folders of these models, and where their parts are."""
    root = tmp_path_factory.mktemp("models")
    folders = {name: save(name, root / name) for name in NAMES}
    out = root / "site"
    out.mkdir()
    jaxtyping.config.update("jaxtyping_disable", True)  # as in unchecked_shapes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "_REGISTERED", dict(known._REGISTERED))
        names = [
            live.add_folder(folder, out, "float16" if name == "half" else "int8")
            for name, folder in folders.items()
        ]
        for name in names:
            live.write_live(name, out, names)
        taught = {name: known.offers()[name].taught for name in names}
    jaxtyping.config.update("jaxtyping_disable", False)
    return folders, out, taught


@pytest.fixture(scope="module")
def answers(written: Any) -> Any:
    install()
    edit = {"edits": [], "folder": str(written[1]), "names": NAMES, "texts": HARD}
    done = subprocess.run(
        [NODE / "bin" / "node", "--input-type=module", "-e", RUN],
        input=json.dumps(edit).encode(), capture_output=True, cwd=ROOT,
    )  # fmt: skip
    assert not done.returncode, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_computes_what_transformers_does(name: str, written: Any, answers: Any) -> None:
    folders, out, taught = written
    model, answer = open_in_engine(folders[name]), answers[name]
    offer_text = header_of((out / f"{name}.bin").read_bytes())["text"]
    reading = model.own.read(offer_text)
    assert answer["tokens"] == next(iter(reading.tokens.values()))
    expected = model.own.trace(reading)
    patterns = [at for at in answer["trace"] if at.endswith(".pattern")]
    assert len(patterns) == 2
    assert ("logits" in answer["trace"]) == (name != "minilm")
    for address, values in answer["trace"].items():
        far = np.abs(np.array(values) - expected[address].numpy().ravel()).max()
        most = 0.05 if address in patterns else 0.3 * expected[address].abs().max()
        assert 0 < far < (most / 50 if name == "half" else most)
    bits = 16 if name == "half" else 8
    assert taught[name].startswith(f"For the browser, its weights are rounded to {bits} bits. On 3 texts, ")


@pytest.mark.parametrize("name", NAMES)
def test_the_tokens_of_hard_texts_are_those_of_python(name: str, written: Any, answers: Any) -> None:
    tokenizer = open_in_engine(written[0][name]).own.tokenizer
    assert answers[name]["ids"] == [tokenizer.ids(text) for text in HARD]
    assert answers[name]["written"] == [tokenizer.decode(ids) for ids in answers[name]["ids"]]


def test_no_file_says_where_the_models_lay(written: Any) -> None:
    out = written[1]
    for file in out.iterdir():
        raw = file.read_bytes()
        content = gzip.decompress(raw) if file.suffix == ".packed" else raw
        assert str(out.parent).encode() not in content, file


def test_a_rounded_weight_is_at_most_half_a_step_away() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 400)).astype(np.float32)
    rows[3, 5] = 300.0  # it is not cut off, so the steps of its row grow
    rows[4] = 0.0
    matrix = rounded(rows, "int8")
    assert matrix.steps is not None
    rms = np.sqrt(np.square(rows).mean(axis=1))
    assert matrix.steps == pytest.approx(np.maximum(rms / STEPS, np.abs(rows).max(axis=1) / MOST_LEVEL))
    assert (np.abs(matrix.floats - rows) <= 0.501 * matrix.steps[:, None]).all()
    assert np.abs(rounded(rows, "float16").floats - rows).max() <= np.abs(rows).max() / 2048
    pieces = [piece for part in parts([matrix]) for piece in part]
    assert [(piece["first"], len(piece["values"])) for piece in pieces] == [(0, 8)]


def test_parts_are_bounded_and_hold_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention_lab.models.zoo.onnx_parts.PART", 1_000)
    matrices = [rounded(np.ones((rows, 100), np.float32), "int8") for rows in (5, 13)]
    cut = [
        [(piece["rows"], piece["first"], len(piece["values"])) for piece in part] for part in parts(matrices)
    ]
    assert cut == [[(5, 0, 5), (13, 0, 4)], [(13, 4, 9)]]


def test_what_a_browser_cannot_run_is_refused_with_a_sentence(tmp_path: Path) -> None:
    folder = families.save("phi", tmp_path / "phi")
    with pytest.raises(ValueError, match=r"^PhiForCausalLM has no counterpart in our engine; give one of"):
        open_in_engine(folder)
    (folder / "tokenizer.json").rename(folder / "vocab.json")
    with pytest.raises(ValueError, match=r"^phi has no tokenizer\.json, the only tokenizer that a browser"):
        open_in_engine(folder)
    with pytest.raises(ValueError, match="is no folder on this machine; give the folder of a model"):
        open_in_engine(tmp_path / "nowhere")
