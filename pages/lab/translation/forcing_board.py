"""The words under teacher forcing and in free running; at every frame another word is replaced."""

from collections.abc import Sequence

import numpy as np

from viz_core.boards import Colour, Diagram, Node

HIDDEN, FAINT, PLAIN, LIT = range(4)
SHORTEST_ROW = 10


class Words:
    """Boxes that share places: at every frame each place shows one of the words that it ever has."""

    def __init__(self, n_frames: int) -> None:
        self.n_frames = n_frames
        self.nodes: list[Node] = []
        self.levels: list[np.ndarray] = []
        self._at: dict[tuple[int, int, str], int] = {}

    def show(
        self, frame: int, row: int, column: int, word: str, level: int, colour: Colour | None = None
    ) -> None:
        at = self._at.setdefault((row, column, word), len(self.nodes))
        if at == len(self.nodes):
            place = f"{row}.{column}.{word}"
            self.nodes.append(Node(id=place, label=word, column=column, row=row, colour=colour))
            self.levels.append(np.full(self.n_frames, HIDDEN))
        self.levels[at][frame] = level

    def diagram(self, title: str) -> Diagram:
        levels = np.stack(self.levels, axis=1)  # [frame, node]
        return Diagram(title=title, nodes=self.nodes, edges=[], levels=levels, row_height=40)


Sentences = Sequence[Sequence[str]]


def forced(reference: Sequence[str], read: Sentences, predicted: Sentences) -> Diagram:
    """What is fed, and below each word what the decoder predicts there; both are [edit][position]."""
    words = Words(len(read))
    for frame, (fed, told) in enumerate(zip(read, predicted, strict=True)):
        for at, word in enumerate(fed):
            words.show(frame, 0, at, word, LIT if at == frame + 1 else PLAIN)
        for at, word in enumerate(told):
            is_other, is_after = word != reference[at], at > frame
            words.show(frame, 1, at, word, LIT if is_other else PLAIN if is_after else FAINT, "accent")
    return words.diagram("teacher forcing: what is fed, and below it the next word that is predicted")


def alone(reference: Sequence[str], written: Sentences) -> Diagram:
    """What the decoder reads and writes [edit][position]; what it was given is faint."""
    words, per_row = Words(len(written)), max(len(reference), SHORTEST_ROW)
    for frame, sentence in enumerate(written):
        for at, word in enumerate(sentence):
            is_other = at >= len(reference) or word != reference[at]
            row, column = divmod(at, per_row)
            level = FAINT if at < frame else LIT if is_other else PLAIN
            words.show(frame, row, column, word, level, "accent")
    return words.diagram("free running: the same beginning (faint), then what the decoder writes alone")
