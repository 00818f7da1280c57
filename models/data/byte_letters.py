"""Bytes as letters, so that byte pairs are texts, too (Radford et al. 2019, 2.2)."""

import re


def _bytes_as_characters() -> dict[int, str]:
    """GPT-2's table: printable bytes are themselves, the others the code points from 256 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {b: chr(b) for b in printable} | {b: chr(256 + at) for at, b in enumerate(others)}


BYTES = _bytes_as_characters()
"""The letter that stands for each byte."""
BYTE_OF = {character: byte for byte, character in BYTES.items()}


def bytes_of(token: str) -> bytes:
    """The bytes that a token of such letters stands for."""
    return bytes(BYTE_OF[character] for character in token)


def label_of(token: str) -> str:
    """A token as a person reads it: its text, or where it is a part of a letter, its bytes."""
    try:
        return bytes_of(token).decode()
    except UnicodeDecodeError:
        return re.sub("..", r"⟨\g<0>⟩", bytes_of(token).hex().upper())
