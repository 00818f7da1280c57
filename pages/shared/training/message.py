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
    usual: float | None = None,
    keep: bool = True,
    fits: bool = False,
) -> bytes:
    """The bytes of a board. part: a new one starts a new board in the browser. link: the page's address.

    at: where the scrub starts. usual: the frame that a link leaves out, by default the last. keep: whether
    there is anything to take away. fits: whether it fills what the window leaves, and can be presented. The
    same board gives the same bytes, which are not sent again.
    """
    last = float(board.scrub.values[-1]) if board.scrub else 0.0
    scrub = {"at": at, "usual": last if usual is None else usual} if board.scrub else None
    packed = pack.pack(board=board, part=part, scrub=scrub, moves=at, link=dict(link), keep=keep, fits=fits)
    return packed.message(generation=zlib.crc32(packed.header + packed.arrays))
