"""A board of a training page as the message that the browser gets."""

import zlib
from collections.abc import Mapping

from pages.shared.board import pack
from viz_core.boards import Board


def message(
    board: Board,
    *,
    part: str,
    link: Mapping[str, str],
    at: float | None = None,
    keep: bool = True,
    fits: bool = False,
) -> bytes:
    """The bytes of a board. part: a new one starts a new board in the browser. link: the page's address.

    at: where the scrub starts. keep: whether there is anything to take away. fits: whether it fills what the
    window leaves, and can be presented. The same board gives the same bytes, which are not sent again.
    """
    scrub = {"at": at, "usual": float(board.scrub.values[-1])} if board.scrub else None
    packed = pack.pack(board=board, part=part, scrub=scrub, moves=at, link=dict(link), keep=keep, fits=fits)
    return packed.message(generation=zlib.crc32(packed.header + packed.arrays))
