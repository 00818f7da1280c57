"""Addresses of a trace: read, written, and taken apart."""

from __future__ import annotations

import pytest

from attention_lab.models.engine.address import Address
from attention_lab.models.engine.trace import GLOSSARY


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_every_address_of_the_glossary_is_written_as_it_was_read(stack: str) -> None:
    for entry in GLOSSARY:
        text = entry.address.format(stack=stack, layer=11)
        where = Address.parse(text)
        assert str(where) == text
        assert (where.stack, where.layer) == (
            stack if "{stack}" in entry.address else "", 11 if "{layer}" in entry.address else -1
        )  # fmt: skip


def test_an_address_is_taken_apart() -> None:
    where = Address.parse("decoder.3.cross.pattern")
    assert where == ("decoder", 3, "cross.pattern")
    assert (where.kind, where.name, where.family) == ("cross", "pattern", "decoder.cross")
    assert where.keys_stack == "encoder" and where._replace(part="self.k").keys_stack == "decoder"
    assert Address.parse("encoder.0") == ("encoder", 0, "") and Address.parse("encoder.0.self").name == "self"
    assert Address.parse("encoder.norm") == ("encoder", -1, "norm")


@pytest.mark.parametrize(
    "text", ["logits", "blocks.3.attn.pattern", 'module "a.0"', "encoder.12345", "", "x\n"]
)
def test_what_is_in_no_stack_is_a_part_alone(text: str) -> None:
    assert Address.parse(text) == ("", -1, text) and str(Address.parse(text)) == text
    assert Address.parse(text).kind == ""
