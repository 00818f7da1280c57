"""The tree of a beam search as boxes: a column for each step, the best on top."""

import numpy as np

from models.engine.decoding import BeamNode, BeamTree
from models.lessons.translation.beam import Step, survivors
from viz_core.boards import Diagram, Node
from viz_core.labels import brief

HIDDEN, FAINT, PLAIN, LIT = range(4)


def diagram(tree: BeamTree, steps: list[Step], words: list[str]) -> Diagram:
    """What is kept stays; what is pruned shows at its own step only, faint, and only the best of it."""
    width = max(len(step.kept) for step in steps)
    n_pruned = min(width, 4) if width <= 4 else 2
    shown = [[*step.kept, *step.pruned[:n_pruned]] for step in steps]
    nodes = [Node(id="0", label="<bos>", column=0, row=0)]
    nodes += [
        Node(id=str(node.id), label=words[node.token], note=brief(node.score), column=number, row=row)
        for number, column in enumerate(shown, start=1)
        for row, node in enumerate(column)
    ]
    edges = [(str(node.parent), str(node.id)) for column in shown for node in column]
    frames = [_levels(tree, shown, step) for step in range(len(steps) + 1)]
    return Diagram(
        title="the tree: each word, and the log-probability of its sentence up to there",
        nodes=nodes, edges=edges, levels=np.array(frames), row_height=46 if width <= 4 else 37,
    )  # fmt: skip


def _levels(tree: BeamTree, shown: list[list[BeamNode]], step: int) -> list[int]:
    """Open and finished hypotheses plain, the best of them lit, dead ends and what is just pruned faint."""
    alive = survivors(tree, step)
    is_last = step == len(shown)
    best = {node.id for node in tree.path(_leader(tree, step, is_last))} if step else set()
    levels = [LIT]
    for number, column in enumerate(shown, start=1):
        for node in column:
            if number > step or (not node.kept and number < step):
                levels.append(HIDDEN)
            elif node.id in best:
                levels.append(LIT)
            else:
                levels.append(PLAIN if node.id in alive else FAINT)
    return levels


def _leader(tree: BeamTree, step: int, is_last: bool) -> int:
    """The last node of the best hypothesis so far; at the end, of the one that is chosen."""
    if is_last:
        return tree.best.id
    kept = [node for node in tree.nodes if node.kept]
    ends = [node for node in kept if node.step == step or (node.finished and node.step < step)]
    return max(ends, key=lambda node: node.score).id
