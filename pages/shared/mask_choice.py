"""The masks that pages offer, by the engine's names, and the field for a mask's argument."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.shared import widget

MAX_ARGUMENT = 4_000
NAMES = {
    "none": "none",
    "causal": "causal",
    "padding": "padding",
    "causal+padding": "causal + padding",
    "window": "window",
    "causal+window": "causal + window",
    "strided": "strided",
    "fixed": "fixed",
    "prefix": "prefix",
    "packed": "packed",
    "causal+packed": "causal + packed",
    "memory": "memory",
    "edges": "graph edges",
    "painted": "painted",
}
ARGUMENTS = {  # an example, and what it says; an empty argument stands for the mask's usual one
    "padding": ("3", "the last 3 tokens are padding"),
    "window": ("3", "width: up to 2 tokens away"),
    "strided": ("4", "stride: the 4 tokens before, and every 4th before them"),
    "fixed": ("4.1", "blocks of 4 tokens; all later tokens see the last 1 of each"),
    "prefix": ("3", "all see the first 3 tokens"),
    "packed": ("4.3", "documents of 4 and 3 tokens; the rest is one more"),
    "memory": ("4.4", "segments of 4 tokens, each with the 4 tokens before it"),
    "edges": ("0-1 1-2", "edges between tokens, counted from 0; empty: a chain"),
    "painted": ("10;11", "a row of 0 and 1 for each query; empty: causal"),
}


ARGUMENT = widget.line("Mask argument")


def about_argument(mask: str, *, own_padding: bool = False) -> dict[str, Any]:
    """What the field for the argument of `mask` says; it is off where the mask takes none, or where the page
    itself pads.
    """
    kind = mask.removeprefix("causal+")
    example, meaning = ("", "") if own_padding and kind == "padding" else ARGUMENTS.get(kind, ("", ""))
    told = f"{example} = {meaning}" if example else "Only some masks have one: a window has its width"
    return {"placeholder": example or "none", "disabled": not example, "help": told}


def argument(key: str, mask: str, *, own_padding: bool = False) -> None:
    """The text field for the argument of `mask`."""
    told = about_argument(mask, own_padding=own_padding)
    st.text_input("Mask argument", key=key, max_chars=MAX_ARGUMENT, **told)
