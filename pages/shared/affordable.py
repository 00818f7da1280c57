"""What a figure may cost in floating-point operations, and the sentence for one that costs more."""

from bisect import bisect_right

from models.data.tasks import Reading
from models.limits import in_force
from models.zoo.model import Model
from pages.shared import visitors

BILLION = 10**9


def check(model: Model, reading: Reading, smaller: str, *, passes: int = 1, waits: bool = False) -> None:
    """Raises ValueError for traces that are too expensive, with the number of tokens that would not be.

    One thread computes for all visitors; a person who is alone waits for nobody else's figure. smaller: what
    else would help. passes: how often the text is read. waits: whether in a class others wait meanwhile.
    """
    lengths = tuple(map(len, reading.tokens.values()))
    price, most = passes * model.operations(lengths), affordable(waits=waits)
    if price <= most:
        return
    longest = max(lengths)

    def price_of(n: int) -> int:
        return passes * model.operations([min(n, each) for each in lengths])

    few = bisect_right(range(1, longest + 1), most, key=price_of)
    can_shorten = few and reading.picture is None
    shorter = f"at most {few:,} tokens instead of {longest:,}, " if can_shorten else ""
    smaller = smaller if can_shorten else smaller.removeprefix("or ")
    raise ValueError(
        f"This takes {price / BILLION:,.0f} billion operations; at most {most / BILLION:,.0f} billion are "
        f"computed for a figure; take {shorter}{smaller}."
    )


def affordable(*, waits: bool = False) -> int:
    """The most operations of a figure; waits: for which in a class others wait meanwhile."""
    limits = in_force()
    of_class = limits.cheap_billions if waits else limits.explore_billions
    return BILLION * (of_class if visitors.is_class() else limits.alone_billions)
