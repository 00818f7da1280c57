"""The pages by the names of their folders, as the menu has them. Each is its address, but Explore's is ""."""

from attention_lab.pages.shared.lab_stops import STOPS

MENU = {
    "": {
        "start": "Start here", "explore": "Explore", "documents": "Long texts", "beside": "Side by side",
        "findings": "Findings", "talks": "Talks",
    },
    "The lab": {stop.name: stop.title for stop in STOPS},
    "Your models": {"train": "Train", "runs": "Runs", "sweeps": "Sweeps"},
}  # fmt: skip
PAGES = {name: title for group in MENU.values() for name, title in group.items()}
