"""The glossary: true to the pages, one sentence a term, each term found where it stands."""

import ast
import math
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from attention_lab.pages.shared import glossary
from attention_lab.pages.shared.glossary import SENTENCES

ROOT = Path(glossary.__file__).parents[2]
SHOWN = [*ROOT.glob("pages/lab/**/*.py"), *ROOT.glob("models/data/**/*.py"), *ROOT.glob("pages/explore/*.py")]


def test_every_term_stands_on_some_page() -> None:
    nodes = [node for file in SHOWN for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    texts += [file.read_text("utf-8") for file in ROOT.glob("pages/lab/*/texts.toml")]
    assert set(SENTENCES) - set(glossary.found_in(texts).values()) == set()


@pytest.mark.parametrize("term", SENTENCES)
def test_every_entry_is_one_sentence_about_its_term(term: str) -> None:
    sentence = SENTENCES[term]
    assert sentence.endswith(".") and not re.search(r"[.!?] ", sentence)
    assert glossary.found_in(sentence)[term.lower()] == term
    assert 30 <= len(sentence) <= 160


def test_no_term_is_there_twice() -> None:
    forms = [form.lower() for term in SENTENCES for form in glossary._forms(term)]
    assert len(set(forms)) == len(forms)


@dataclass(frozen=True)
class Panel:
    title: str
    rows: tuple[str, ...]
    values: object = 3


def test_terms_are_found_in_all_texts_of_a_thing_in_any_form() -> None:
    things = [Panel("Queries of a head", ("<eos>", "the")), {"see": ["√d_k", "keyboard, headline"]}]
    found = glossary.found_in(*things, "the residual stream")
    whole = {"queries": "query", "head": "head", "<eos>": "<eos>", "d_k": "d_k"}
    assert found == whole | {"residual stream": "residual stream"}
    assert glossary.sentences(found)["queries"] == SENTENCES["query"]


def test_the_list_names_each_term_once_in_order_and_as_text() -> None:
    shown = glossary.drawer({"queries": "query", "query": "query", "<eos>": "<eos>", "bits": "bit"}, "Terms")
    assert re.findall("<dt>(.*?)</dt>", shown) == ["&lt;eos&gt;", "bit", "query"]
    assert "<eos>" not in shown


def test_numbers_in_sentences_are_right() -> None:
    assert f"{1 / math.log(2):.2f} bits" in SENTENCES["nat"]
    assert f"{math.log(2):.2f} nats" in SENTENCES["bit"]
    assert f"{torch.finfo(torch.float16).max:,.0f}" in SENTENCES["float16"]
    for name, exponent, digits in (("float16", 5, 10), ("bfloat16", 8, 7), ("float32", 8, 23)):
        info = torch.finfo(getattr(torch, name))
        assert (info.bits, info.eps) == (1 + exponent + digits, 2.0**-digits)
        assert (
            f"{exponent} bits for the exponent" in SENTENCES[name]
            and f"{digits} for the digits" in SENTENCES[name]
        )
