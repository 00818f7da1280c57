"""The way through the pages of the lab, and the section of "Attention Is All You Need" that each is about."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stop:
    """One page of the lab.

    name: as its address says. after: what one understands after it. section: number and title in the paper.
    parts: their labels by name, in their order; written here so that no page has to be loaded to name them.
    """

    name: str
    title: str
    after: str
    section: str
    parts: dict[str, str]


STOPS = (
    Stop(
        "attention", "Attention, step by step",
        "How a word asks with its query, is answered by every key, and takes a mixture of values away.",
        "3.2.1 Scaled Dot-Product Attention",
        {"steps": "Steps", "worked": "Worked example", "order": "Order", "films": "Dot product"},
    ),
    Stop(
        "softmax", "Softmax and scale",
        "Why large scores leave one winner and almost no gradient, and why they are divided by √d_k.",
        "3.2.1 Scaled Dot-Product Attention",
        {"spread": "Spread", "dots": "Dot products", "head": "A real head", "formats": "Number formats"},
    ),
    Stop(
        "heads", "Heads and dimensions",
        "Why several narrow heads cost about as much as a wide one, and what each of them adds.",
        "3.2.2 Multi-Head Attention",
        {
            "cut": "Cut into heads", "contributions": "What each adds", "cost": "Narrow or wide",
            "recut": "1, 2, 4, 8 heads",
        },
    ),
    Stop(
        "masks", "Masks",
        "Who may look at whom, why a mask comes before the softmax, and how far sparse ones reach.",
        "3.2.3 Applications of Attention in our Model",
        {
            "mask": "Mask", "reach": "Reach", "cost": "Cost", "late": "After softmax", "padding": "Padding",
            "graph": "Graph",
        },
    ),
    Stop(
        "positions", "Positions",
        "How a model that sees only a set of words is told their order.",
        "3.5 Positional Encoding",
        {
            "waves": "Waves", "shift": "Shift", "learned": "Learned", "rotary": "Rotary", "biases": "Biases",
            "schemes": "Side by side", "order": "Order", "length": "Length",
        },
    ),
    Stop(
        "block", "Inside the block",
        "What residual connections, norms and the feed-forward network do to what attention found.",
        "3.1 Encoder and Decoder Stacks, 3.3 Position-wise Feed-Forward Networks",
        {
            "flow": "Through the block", "depth": "Depth and gradients", "norms": "Layer or batch",
            "lens": "Logit lens",
        },
    ),
    Stop(
        "translation", "Encoder and decoder",
        "How the three attentions write a translation word by word, and how its words are chosen.",
        "3.2.3 Applications of Attention in our Model, 6.1 Machine Translation",
        {
            "flow": "The translator at work", "three": "Three attentions", "beam": "Greedy or beam",
            "sampling": "Sampling", "forcing": "Teacher forcing",
        },
    ),
    Stop(
        "objective", "What training optimises",
        "What the loss asks of a model, why labels are smoothed, and why the learning rate warms up.",
        "5.3 Optimizer, 5.4 Regularization",
        {
            "targets": "Targets and training", "loss": "Cross-entropy and KL",
            "letters": "Perplexity and bits", "gradient": "The gradient p − y", "warmup": "Warm-up",
        },
    ),
    Stop(
        "design", "Design and cost",
        "Why attention took the place of recurrence, and what a model of any size costs.",
        "4 Why Self-Attention",
        {"paths": "Paths", "layers": "Cost of a layer", "calculator": "Calculator", "memory": "Memory"},
    ),
)  # fmt: skip
"""The pages in their order."""

NAMES = tuple(stop.name for stop in STOPS)


def part_of(name: str, part: str) -> tuple[str, str] | None:
    """The names of a page and its part as they are, where there is such a page with such a part."""
    known = any(stop.name == name and part in stop.parts for stop in STOPS)
    return (name, part) if known else None
