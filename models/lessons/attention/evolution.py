"""The eight steps in their order: what each computes, how it is written, and what it changes.

In a formula, `\\new{...}` marks what the step before did not have; `\\q`, `\\k` and `\\v` mark queries, keys
and values. Whoever draws it defines these macros.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from torch import Tensor

from models.lessons.attention import steps

AXES = {
    "X": "token channel",
    "q": "channel",
    "Q": "query channel",
    "W_a": "hidden channel",
    "U_a": "hidden channel",
    "v_a": "hidden",
    "W_Q": "channel channel",
    "W_K": "channel channel",
    "W_V": "channel channel",
    "W_O": "channel channel",
}
"""The axes of the tensors that steps are given; their lines say the axes of what they compute."""


class Line(NamedTuple):
    """One line of a step: which tensor, its axes, what is done, and to which tensors."""

    name: str
    axes: str
    does: str
    reads: tuple[str, ...]


class Node(NamedTuple):
    """A tensor in a step's diagram; `does` says how it is computed, or is None where the step is given it."""

    name: str
    does: str | None
    changed: bool


@dataclass(frozen=True)
class Step:
    """One form of attention; `change` says what is new in it, and why."""

    key: str
    source: str
    change: str
    formula: str
    run: Callable[..., steps.Tensors]
    lines: tuple[Line, ...]

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The tensors it is given."""
        return tuple(name for name in inspect.signature(self.run).parameters if name != "n_heads")

    @cached_property
    def axes(self) -> dict[str, str]:
        """The axes of every tensor, given or computed."""
        return {name: AXES[name] for name in self.takes} | {line.name: line.axes for line in self.lines}


def _softmax(axes: str) -> Line:
    return Line("pattern", axes, "softmax", ("scores",))


def _scaled(axes: str, by: str = "d_k") -> Line:
    return Line("scores", axes, f"÷ √{by}", ("dots",))


_KEYS = Line("K", "key channel", "X W_K", ("X", "W_K"))
_VALUES = Line("V", "key channel", "X W_V", ("X", "W_V"))
_QUERIES = Line("Q", "query channel", "X W_Q", ("X", "W_Q"))
_SUM_OF_TOKENS = "pattern X"
_SUM_OF_VALUES = "pattern V"

STEPS: tuple[Step, ...] = (
    Step(
        key="free",
        source="Bloem 2019",
        change="Each token becomes a mean of all tokens, weighted by how similar they are to it: nothing is "
        "learned yet.",
        formula=r"Z = \operatorname{softmax}(X X^\top)\, X",
        run=steps.parameter_free,
        lines=(
            Line("scores", "query key", "X Xᵀ", ("X",)),
            _softmax("query key"),
            Line("z", "query channel", _SUM_OF_TOKENS, ("pattern", "X")),
        ),
    ),
    Step(
        key="v0",
        source="Bahdanau et al. 2015",
        change="A query comes from outside. A small network with learned weights scores each token, so "
        "that a translator can look back at the word it needs next.",
        formula=r"\text{score}_j = \new{\boxed{v_a^\top \tanh(W_a\, \q{q} + U_a\, x_j)}} \qquad "
        r"z = \sum_j \operatorname{softmax}(\text{score})_j\, x_j",
        run=steps.additive,
        lines=(
            Line("hidden", "key hidden", "tanh(W_a q + U_a x)", ("q", "W_a", "U_a", "X")),
            Line("scores", "key", "hidden v_a", ("hidden", "v_a")),
            _softmax("key"),
            Line("z", "channel", _SUM_OF_TOKENS, ("pattern", "X")),
        ),
    ),
    Step(
        key="v1",
        source="Luong et al. 2015",
        change="A plain dot product replaces the network: it has nothing to learn, only numbers to "
        "multiply and add up.",
        formula=r"\text{score}_j = \new{\boxed{\q{q} \cdot x_j}} \qquad "
        r"z = \sum_j \operatorname{softmax}(\text{score})_j\, x_j",
        run=steps.dot_product,
        lines=(
            Line("scores", "key", "X q", ("q", "X")),
            _softmax("key"),
            Line("z", "channel", _SUM_OF_TOKENS, ("pattern", "X")),
        ),
    ),
    Step(
        key="v2",
        source="Vaswani et al. 2017",
        change="Dot products are divided by √d_k: the more channels they add up, the larger they get, and "
        "softmax would put nearly all weight on one token and hardly learn.",
        formula=r"\text{score}_j = \frac{\q{q} \cdot x_j}{\new{\boxed{\sqrt{d_k}}}} \qquad "
        r"z = \sum_j \operatorname{softmax}(\text{score})_j\, x_j",
        run=steps.scaled_dot_product,
        lines=(
            Line("dots", "key", "X q", ("q", "X")),
            _scaled("key"),
            _softmax("key"),
            Line("z", "channel", _SUM_OF_TOKENS, ("pattern", "X")),
        ),
    ),
    Step(
        key="v3",
        source="Vaswani et al. 2017",
        change="The queries become the rows of one matrix. Two matrix products answer them all at once, "
        "each with the numbers that it would get alone.",
        formula=r"Z = \operatorname{softmax}\!\left(\frac{\new{\boxed{\q{Q}}}\, X^\top}{\sqrt{d_k}}\right) X",
        run=steps.many_queries,
        lines=(
            Line("dots", "query key", "Q Xᵀ", ("Q", "X")),
            _scaled("query key"),
            _softmax("query key"),
            Line("z", "query channel", _SUM_OF_TOKENS, ("pattern", "X")),
        ),
    ),
    Step(
        key="v4",
        source="Vaswani et al. 2017, without their W_Q",
        change="Two learned matrices separate what a token is found by (its key) from what it hands over "
        "(its value). The paper projects these queries as well; here they are used as they are.",
        formula=r"\new{\boxed{\k{K} = X W_K \quad \v{V} = X W_V}} \qquad "
        r"Z = \operatorname{softmax}\!\left(\frac{\q{Q}\, \new{\boxed{\k{K}}}^\top}{\sqrt{d_k}}\right) "
        r"\new{\boxed{\v{V}}}",
        run=steps.cross_attention,
        lines=(
            _KEYS,
            _VALUES,
            Line("dots", "query key", "Q Kᵀ", ("Q", "K")),
            _scaled("query key"),
            _softmax("query key"),
            Line("z", "query channel", _SUM_OF_VALUES, ("pattern", "V")),
        ),
    ),
    Step(
        key="v5",
        source="Vaswani et al. 2017",
        change="The queries come from the same tokens, through a matrix of their own: each token asks, "
        "and may ask for something other than what it is.",
        formula=r"\new{\boxed{\q{Q} = X W_Q}} \quad \k{K} = X W_K \quad \v{V} = X W_V \qquad "
        r"Z = \operatorname{softmax}\!\left(\frac{\q{Q} \k{K}^\top}{\sqrt{d_k}}\right) \v{V}",
        run=steps.self_attention,
        lines=(
            _QUERIES,
            _KEYS,
            _VALUES,
            Line("dots", "query key", "Q Kᵀ", ("Q", "K")),
            _scaled("query key"),
            _softmax("query key"),
            Line("z", "query channel", _SUM_OF_VALUES, ("pattern", "V")),
        ),
    ),
    Step(
        key="v6",
        source="Vaswani et al. 2017",
        change="Q, K and V are cut into heads, so that a token can look at several others for different "
        "reasons; W_O mixes what the heads bring back.",
        formula=r"Z_{\new{h}} = \operatorname{softmax}\!\left(\frac{\q{Q}_{\new{h}}\, \k{K}_{\new{h}}^\top}"
        r"{\sqrt{\new{d_\text{head}}}}\right) \v{V}_{\new{h}} \qquad "
        r"\text{out} = \new{\boxed{[Z_1; \dots; Z_H]\, W_O}}",
        run=steps.multi_head,
        lines=(
            _QUERIES,
            _KEYS,
            _VALUES,
            Line("Q_heads", "head query d_head", "cut(Q)", ("Q",)),
            Line("K_heads", "head key d_head", "cut(K)", ("K",)),
            Line("V_heads", "head key d_head", "cut(V)", ("V",)),
            Line("dots", "head query key", "Q Kᵀ", ("Q_heads", "K_heads")),
            _scaled("head query key", by="d_head"),
            _softmax("head query key"),
            Line("z", "head query d_head", _SUM_OF_VALUES, ("pattern", "V_heads")),
            Line("concat", "query channel", "join(Z)", ("z",)),
            Line("out", "query channel", "concat W_O", ("concat", "W_O")),
        ),
    ),
)


def compute(step: Step, given: dict[str, Tensor], *, n_heads: int) -> dict[str, Tensor]:
    """All tensors of a step by name, those it is given first; `n_heads` matters to multi-head only.

    Raises ValueError when `n_heads` does not divide the number of channels.
    """
    taken = {name: given[name] for name in step.takes}
    if step.run is not steps.multi_head:
        return taken | step.run(**taken)
    n_channels = taken["X"].shape[1]
    if n_channels % n_heads:
        divisors = [str(n) for n in range(1, n_channels + 1) if n_channels % n == 0]
        raise ValueError(
            f"{n_channels} channels cannot be cut into n_heads={n_heads} equal parts; "
            f"try {', '.join(divisors[:-1])} or {divisors[-1]}"
        )
    return taken | step.run(**taken, n_heads=n_heads)


def diagram(index: int) -> tuple[list[Node], list[tuple[str, str]]]:
    """The tensors of a step, and (read, computed) pairs. What the step before lacks is `changed`; in the
    first step nothing is.
    """
    step = STEPS[index]
    before = STEPS[max(index - 1, 0)]
    done = {line.does for line in before.lines}
    nodes = [Node(name, None, name not in before.takes) for name in step.takes]
    nodes += [Node(line.name, line.does, line.does not in done) for line in step.lines]
    return nodes, [(read, line.name) for line in step.lines for read in line.reads]
