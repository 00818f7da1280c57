"""The pages by the names of their folders, as the menu has them. Each is its address, but Explore's is ""."""

from typing import NamedTuple

from attention_lab.pages.shared.lab_stops import STOPS


class Door(NamedTuple):
    """An entry of the menu: a list of pages under a title or, without one, pages that stand in the menu."""

    title: str
    pages: dict[str, str]


MENU = (
    Door(title="", pages={"explore": "Explore"}),
    Door(title="Learn", pages={"start": "Start here"} | {stop.name: stop.title for stop in STOPS}),
    Door(title="Compare", pages={"beside": "Side by side", "findings": "Findings"}),
    Door(title="Train", pages={"train": "Train", "runs": "Runs", "sweeps": "Sweeps"}),
    Door(title="More", pages={"documents": "Long texts", "talks": "Talks"}),
)
PAGES = {name: title for door in MENU for name, title in door.pages.items()}
