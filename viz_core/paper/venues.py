"""Where figures are printed: widths and sizes of letters, as tueplots lists them where it does."""

from dataclasses import dataclass

from tueplots import figsizes, fontsizes

POINTS, MM = 72, 25.4  # in an inch
PIXELS = 12  # of the small letters of a figure on a screen


@dataclass(frozen=True)
class Venue:
    """A column: its width in inches, and the sizes of its small and its largest letters in points."""

    title: str
    width: float
    small: float
    largest: float

    @property
    def pixels(self) -> int:
        """The width in a figure's own pixels, where its small letters have the venue's small size."""
        return int(self.width * POINTS / self.small * PIXELS)


def _listed(title: str, size: str, letters: str) -> Venue:
    width, _ = getattr(figsizes, size)()["figure.figsize"]
    sizes = getattr(fontsizes, letters)()
    return Venue(f"{title}, {width:g} in", width, sizes["xtick.labelsize"], sizes["font.size"])


VENUES = {
    "nature": Venue("Nature, one column, 89 mm", 89 / MM, 6, 7),
    "nature-wide": Venue("Nature, two columns, 183 mm", 183 / MM, 6, 7),
    "neurips": _listed("NeurIPS", "neurips2024", "neurips2024"),
    "icml": _listed("ICML, one column", "icml2024_half", "icml2024"),
    "icml-wide": _listed("ICML, two columns", "icml2024_full", "icml2024"),
    "acl": Venue("ACL, one column, 77 mm", 77 / MM, 6, 9),
    "acl-wide": Venue("ACL, two columns, 160 mm", 160 / MM, 6, 9),
}
"""tueplots has neither Nature, whose letters have 5 to 7 points, nor ACL, whose columns have 77 mm."""
