"""The way through the pages of the lab."""

NAMES = (
    "attention",
    "softmax",
    "heads",
    "masks",
    "positions",
    "block",
    "translation",
    "objective",
    "design",
)
"""The pages in their order, as their addresses name them."""
