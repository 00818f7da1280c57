"""A board's message to the browser, whatever page or notebook shows it."""

import zlib
from collections.abc import Mapping
from typing import Any

from attention_lab.viz_core.boards import Board
from attention_lab.viz_core.viewer.message import pack


def message(
    board: Board,
    *,
    part: str,
    link: Mapping[str, str],
    at: float | None = None,
    usual: float | None = None,
    keep: bool = True,
    fits: bool = False,
    presents: int = 0,
    claim: str = "",
    where: str = "",
    **more: Any,
) -> bytes:
    """The bytes of a board. part: a new one starts a new board in the browser. link: the page's address.

    at: where the scrub starts. usual: the frame that a link leaves out, by default the last. keep: whether
    there is anything to take away. fits: whether it fills what the window leaves, and can be presented.
    presents: so many rows, from the first, can be where it does not. claim: what is read above them then.
    where: what it is called then. more: what else a host reads in the header. The same board gives the same
    bytes, which are not sent again.
    """
    last = float(board.scrub.values[-1]) if board.scrub else 0.0
    scrub = {"at": at, "usual": last if usual is None else usual} if board.scrub else None
    packed = pack(
        board=board, part=part, scrub=scrub, moves=at, link=dict(link), keep=keep, fits=fits,
        presents=presents, claim=claim, where=where,
    )  # fmt: skip
    return packed.message(generation=zlib.crc32(packed.header + packed.arrays), **more)
