"""The board in the browser."""

from attention_lab.pages.shared.browser.acts import Kinds
from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.page_order import ACTS as OF_CLICKERS

ACTS: Kinds = {
    **OF_CLICKERS,
    "edit": {"field": str, "value": str},
    "takeaway": {"frame": int, "address": str},
    "part": {"name": str},
    "answer": {"question": int, "option": int},
}
board = Component("board", acts=ACTS)
