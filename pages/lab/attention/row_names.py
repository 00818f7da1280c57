"""Reading the names of rows that a person typed."""

from pages.lab.attention.inputs import MOST


def names(text: str, what: str, *, separator: str | None = None) -> list[str]:
    """The names in a text, between commas or (by default) spaces.

    Raises ValueError, with a sentence, unless there are 1 to 6.
    """
    found = [name.strip() for name in text.split(separator) if name.strip()]
    if not 1 <= len(found) <= MOST:
        raise ValueError(f"There are {len(found)} {what}, but this part shows 1 to {MOST}; change the text.")
    return found
