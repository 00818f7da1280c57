"""Part 1: what one output can see, and in how many steps."""

import numpy as np

from models.lessons.design import paths
from models.lessons.design.paths import Network, steps_from
from pages.lab.design.inputs import Inputs
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Diagram, Node, Scrub, Table

FAR = 1_000
SEE = (
    "There are five ways to let words know of each other, from left to right; words are below, outputs on "
    "top. What has heard of **word 1** is lit, and every arrow takes one step. A stack has as many layers as "
    "its last output needs to see word 1. **Press play, or go step by step.**"
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
        row_height=52 if network.n_layers == 1 else 42 if network.n_layers < 7 else 34,
    )


def _table(inputs: Inputs, networks: dict[str, Network], found: dict[str, int], steps: np.ndarray) -> Table:
    k, r = inputs.kernel, inputs.window
    far = (
        paths.path_of_recurrent(FAR), paths.path_of_self_attention(FAR), paths.path_of_window(FAR, k),
        paths.path_of_dilated(FAR, k), paths.path_of_window(FAR, r),
    )  # fmt: skip
    orders = (("n", "n"), ("1", "1"), ("1", "n / k"), ("1", "logₖ n"), ("1", "n / r"))
    rows = [
        (
            name,
            f"{paths.sequential_steps(network)}",
            f"O({one_layer})",
            f"{found[name]}",
            f"O({path})",
            f"{at:,}",
        )
        for (name, network), (one_layer, path), at in zip(networks.items(), orders, far, strict=True)
    ]
    return Table(
        columns=(
            "network", f"sequential operations per layer, n = {inputs.words}", "table 1",
            f"longest path, n = {inputs.words}", "table 1", f"longest path, n = {FAR:,}",
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
    n = 8
    crawl = paths.longest_path(paths.recurrent(n))
    doubled = paths.longest_path(paths.self_attention(2 * n))
    plain, gaps = paths.path_of_window(FAR, 3), paths.path_of_dilated(FAR, 3)
    layers = ("7", "32", "500")
    return (
        Question(
            "After how many steps has a recurrent network's last of eight outputs heard of word 1?",
            ("1", "3", "8"),
            ("1", "3", "8").index(str(crawl)),
            f"Found by search: one into the first state, then {crawl - 1} from state to state.",
        ),
        Question(
            "With twice as many words, the longest path of self-attention …",
            ("stays as it is", "grows by one", "doubles"),
            0 if doubled == paths.longest_path(paths.self_attention(n)) else 2,
            f"It is {doubled}, for 8 and for 16: every output has an arrow from every word before it.",
        ),
        Question(
            "How many layers do a thousand words need, with kernels of width 3 and growing gaps (dilated)?",
            layers,
            layers.index(str(gaps)),
            f"3^{gaps} = {3**gaps:,} reaches a thousand. Without gaps it takes {plain}.",
        ),
    )


PART = Part("paths", "Paths", ("words", "kernel", "window"), lesson, TRIES, questions, scrub="step")
