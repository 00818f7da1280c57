"""Where a trace has a value: `encoder.0.self.pattern` is the pattern of a layer's self-attention."""

import re
from typing import NamedTuple

_WRITTEN = re.compile(r"(encoder|decoder)\.(?:([0-9]{1,4})(?:\.([a-z_.]+))?|([a-z_]+))")


class Address(NamedTuple):
    """A stack, "encoder" or "decoder"; a layer, -1 for what is in none (`encoder.embed`); and a part, such as
    "self.pattern" or "resid_pre", "" for the layer itself. What is in no stack (`logits`) is a part alone.
    """

    stack: str
    layer: int
    part: str

    @classmethod
    def parse(cls, text: str) -> "Address":
        """The address that is written so."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            return cls("", -1, text)
        stack, layer, part, alone = match.groups()
        return cls(stack, int(layer or -1), part or alone or "")

    def __str__(self) -> str:
        return ".".join(str(each) for each in self if each not in ("", -1))

    @property
    def kind(self) -> str:
        """The sublayer that it is in, "self", "cross" or "ff"; "" for none."""
        return self.part.partition(".")[0] if self.part.startswith(("self", "cross", "ff")) else ""

    @property
    def name(self) -> str:
        """The tensor's own name, which is the last word of the part."""
        return self.part.rpartition(".")[2]

    @property
    def family(self) -> str:
        """The attentions that it is one of, such as "encoder.self"."""
        return f"{self.stack}.{self.kind}"

    @property
    def keys_stack(self) -> str:
        """The stack whose tokens are the keys of an attention here."""
        return "encoder" if self.kind == "cross" else self.stack


def attention_at(family: str, layer: int) -> str:
    """Returns the address of a layer's attention in a family such as "encoder.self": "encoder.0.self"."""
    stack, kind = family.split(".")
    return f"{stack}.{layer}.{kind}"


def sides_of(family: str) -> tuple[str, str]:
    """Names the stack that gives a family of attentions its queries, and the one that gives its keys."""
    stack, kind = family.split(".")
    return stack, "encoder" if kind == "cross" else stack
