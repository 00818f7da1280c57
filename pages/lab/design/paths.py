"""Part 1: what one output can see, and in how many steps."""

import numpy as np

from models.lessons.design import paths
from models.lessons.design.paths import Network, steps_from
from pages.lab.design.inputs import Inputs
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Diagram, Node, Scrub, Table

FAR = 1_000
SEE = (
    "In these five networks words hear of earlier words. Words are below, outputs on top; what has heard of "
    "**word 1** is lit, and every arrow takes one step. Each stack is as deep as its last output needs to "
    "hear of word 1. **Press play, or go step by step.**"
)
TRIES = (
    Try("twelve words", {"words": 12, "kernel": 3, "window": 3, "step": 1}),
    Try("the narrowest kernel", {"words": 8, "kernel": 2, "window": 3, "step": 3}),
    Try("the widest window", {"words": 8, "kernel": 3, "window": 5, "step": 2}),
)


def lesson(inputs: Inputs) -> Lesson:
    n, k, r = inputs.words, inputs.kernel, inputs.window
    networks = {
        "recurrent": paths.recurrent(n),
        "self-attention": paths.self_attention(n),
        f"convolution, kernel {k}": paths.convolution(n, k),
        f"dilated convolution, kernel {k}": paths.dilated(n, k),
        f"self-attention to the last {r}": paths.restricted(n, r),
    }
    found = {name: paths.longest_path(network) for name, network in networks.items()}
    steps = np.arange(max(found.values()) + 1)
    diagrams = [_diagram(name, network, steps) for name, network in networks.items()]
    return Lesson(
        see=SEE,
        board=Board(
            rows=[diagrams[:2], diagrams[2:], [_table(inputs, networks, found, steps)]],
            notice=_notices(found, steps),
            scrub=Scrub(field="step", label="steps", values=steps, speed=1.2, plays=True),
        ),
        formula=(
            r"\begin{gathered}\text{longest path: recurrent } n,\quad\text{self-attention } 1\\"
            r"\text{convolution }\Big\lceil\tfrac{n-1}{k-1}\Big\rceil,\quad"
            r"\text{dilated }\lceil\log_k n\rceil\\"
            r"\text{to the last } r\;\Big\lceil\tfrac{n-1}{r-1}\Big\rceil\end{gathered}"
        ),
        sizes=rf"n={n},\; k={k},\; r={r}",
        shapes=(
            Shape(r"\text{recurrent}", "edge, end, (layer, position)", (2 * n - 1, 2, 2)),
            *(
                Shape(rf"\text{{{name.split(',')[0]}}}", "edge, end, (layer, position)", _size(network))
                for name, network in list(networks.items())[1:]
            ),
        ),
        code=(
            paths.recurrent, paths.self_attention, paths.dilated, paths.restricted, paths.steps_from,
            paths.longest_path, paths.sequential_steps,
        ),
    )  # fmt: skip


def _size(network: Network) -> tuple[int, int, int]:
    return (len(network.edges), 2, 2)


def _diagram(name: str, network: Network, steps: np.ndarray) -> Diagram:
    nodes = [(layer, at) for layer in range(network.n_layers + 1) for at in range(network.n)]
    after = steps_from(network, (0, 0))
    heard = np.array([after.get(node, len(steps)) for node in nodes])
    return Diagram(
        title=name,
        nodes=[
            Node(id=f"{layer}.{at}", label=str(at + 1), column=at, row=network.n_layers - layer)
            for layer, at in nodes
        ],
        edges=[(f"{a}.{b}", f"{c}.{d}") for (a, b), (c, d) in network.edges],
        levels=np.where(heard <= steps[:, None], 3, 1),
        row_height=70 if network.n_layers == 1 else 42 if network.n_layers < 7 else 34,
    )


def _table(inputs: Inputs, networks: dict[str, Network], found: dict[str, int], steps: np.ndarray) -> Table:
    k, r = inputs.kernel, inputs.window
    far = (
        paths.path_of_recurrent(FAR), paths.path_of_self_attention(FAR), paths.path_of_window(FAR, k),
        paths.path_of_dilated(FAR, k), paths.path_of_window(FAR, r),
    )  # fmt: skip
    orders = (
        ("O(n)", "O(n), table 1"), ("O(1)", "O(1), table 1"), ("O(1)", "O(n / k), section 4"),
        ("O(1)", "O(logₖ n), table 1"), ("O(1)", "O(n / r), table 1"),
    )  # fmt: skip
    rows = [
        (
            name,
            f"{paths.sequential_steps(network)}",
            one_layer,
            f"{found[name]}",
            path,
            f"{at:,}",
        )
        for (name, network), (one_layer, path), at in zip(networks.items(), orders, far, strict=True)
    ]
    return Table(
        columns=(
            "network", f"sequential operations per layer, n = {inputs.words}", "in table 1",
            f"longest path, n = {inputs.words}", "in the paper", f"longest path, n = {FAR:,}",
        ),
        rows=rows,
        marked=np.array(list(found.values())) <= steps[:, None],
    )  # fmt: skip


def _notices(found: dict[str, int], steps: np.ndarray) -> list[str]:
    notices = []
    for step in steps.tolist():
        there = [name.split(",")[0] for name, path in found.items() if path <= step]
        said = f"After **{step}** {'step' if step == 1 else 'steps'} the last output has heard of word 1 in "
        notices.append(
            f"{said}**{len(there)}** of {len(found)}"
            + (f": {', '.join(there)}." if there else ".")
            + f" Recurrence needs {found['recurrent']}, self-attention {found['self-attention']}."
        )
    return notices


def questions() -> tuple[Question, ...]:
    n, million = 8, 1_000_000
    wider = {
        "the plain convolution's": (paths.path_of_window(FAR, 3), paths.path_of_window(FAR, 5)),
        "the dilated one's": (paths.path_of_dilated(FAR, 3), paths.path_of_dilated(FAR, 5)),
    }
    halved = [name for name, (before, after) in wider.items() if 2 * after <= before]
    deep, plain = paths.path_of_dilated(million, 3), paths.path_of_window(million, 3)
    layers = ("13", "1,000", "333,334")
    arrows = {name: len(network.edges) for name, network in
              (("self-attention", paths.self_attention(n)), ("recurrent", paths.recurrent(n)))}  # fmt: skip
    counts = ("as many", "about one and a half times as many", "more than twice as many")
    ratio = arrows["self-attention"] / arrows["recurrent"]
    return (
        Question(
            "Kernels grow from 3 to 5. Whose longest path over 1,000 words becomes half as long?",
            (*wider, "both"),
            2 if len(halved) == 2 else list(wider).index(halved[0]),
            "; ".join(f"{name} goes from {before} to {after}" for name, (before, after) in wider.items())
            + ": one is divided by k − 1, the other grows with a logarithm.",
        ),
        Question(
            "How many layers do a million words need, with kernels of width 3 and growing gaps (dilated)?",
            layers,
            layers.index(f"{deep:,}"),
            f"3^{deep} = {3**deep:,} reaches a million. Without gaps it takes {plain:,} layers.",
        ),
        Question(
            "Eight words: how many arrows does self-attention need for its short path, next to recurrence?",
            counts,
            min(range(3), key=lambda at: abs((1, 1.5, 2.4)[at] - ratio)),
            f"{arrows['self-attention']} arrows instead of {arrows['recurrent']}, counted: every output "
            "has one from each word before it, so they grow as n². That is the price of a path of 1.",
        ),
    )


PART = Part("paths", "Paths", ("words", "kernel", "window"), lesson, TRIES, questions, scrub="step")
