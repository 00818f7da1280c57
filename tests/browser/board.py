"""Drives a lab page as a visitor does, and reads back what its board shows."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser.explore_page import Tab, read_number, settle

LAB_PAGES = {  # their addresses and titles
    "attention": "Attention, step by step",
    "softmax": "Softmax and scale",
    "heads": "Heads and dimensions",
    "masks": "Masks",
    "positions": "Positions",
    "block": "Inside the block",
    "translation": "Encoder and decoder",
    "objective": "What training optimises",
    "design": "Design and cost",
}
SHOWN = """
(board) => {
  const told = {
    CANVAS: (node) => node.toDataURL(),
    INPUT: (node) => node.value,
    BUTTON: (node) => node.ariaPressed,
  };
  const drawn = board.querySelectorAll(".rows .panel:not(:has(.plot)) :is(canvas, input, button)");
  // Which numbers stand at an axis, and whether there are some over bars, depends on a figure's size.
  const known = (name, value) => (name === "visible" ? undefined : value);
  const figures = [...board.querySelectorAll(".plot")].map((figure) =>
    JSON.stringify(figure.data, (name, value) =>
      ArrayBuffer.isView(value) ? `${value}` : known(name, value)),
  );
  const parts = ".notice, .scrub output, figcaption, .rows .panel:not(:has(.plot))";
  const words = [...board.querySelectorAll(parts)].map((part) => part.innerText);
  return [...words, ...[...drawn].map((node) => told[node.tagName](node)), ...figures].join("\\n");
}
"""

# Both read at one moment what a board that is watched may change at the next.
CELLS = """
(rows) => {
  const read = (cell) => {
    const inner = cell.firstElementChild;
    if (!inner) return cell.innerText;
    return inner.tagName === "INPUT" ? inner.value : String(+(inner.ariaPressed === "true"));
  };
  return rows.map((row) => [...row.querySelectorAll("[data-cell]")].map(read));
}
"""
FACTS = '(facts) => facts.map((fact) => ["dt", "dd"].map((part) => fact.querySelector(part).innerText))'
# A figure's traces, with numbers that JSON does not know as null.
TRACES = """
(figure) => JSON.stringify(figure.data, (name, value) => (ArrayBuffer.isView(value) ? [...value] : value))
"""
# Where the cell [row, column] of a picture is.
MIDDLE_OF = """
(figure, [row, column]) => {
  const { xaxis, yaxis } = figure._fullLayout;
  return { x: xaxis._offset + xaxis.l2p(column), y: yaxis._offset + yaxis.l2p(row) };
}
"""
MORE = {"more": "1"}
UNFOLD = "(folds) => folds.forEach((fold) => fold.open || fold.firstElementChild.click())"
# Resolves once the address tells what the board shows; the board of a run that is watched changes meanwhile.
LINKED = """
(board) => new Promise((done) => {
  const look = () => {
    const { linked, generation, frame } = board.dataset;
    if (linked === `${generation}/${frame}`) done();
    else setTimeout(look, 20);
  };
  look();
})
"""


class BoardPage(Tab):
    """One lab page in one tab."""

    def __init__(self, page: Page, name: str) -> None:
        super().__init__(page, ".board:not(.st-key-train_data *)")  # Train shows its data on another
        self.name = name
        self.board = self.figure

    def open(self, **params: Any) -> "BoardPage":
        """Open the page by a link with these parameters (`part` chooses the part), all pictures shown."""
        self.page.goto(f"/{self.name}?{urlencode(params | MORE)}")
        return self.wait()

    def choose(self) -> "BoardPage":
        """Come from another page by the navigation."""
        self.page.get_by_role("button", name="Learn", exact=True).click()
        self.page.get_by_test_id("stTopNavPopover").locator(f"a[href$='/{self.name}']").click()
        return self.wait()

    def wait(self) -> "BoardPage":
        """Until the page is there, all pictures shown."""
        self.arrive()
        self.unfold()
        return self

    def arrive(self) -> None:
        """Until the page is there, no longer the one before, and nothing on it moves any more."""
        expect(
            self.page.get_by_role("heading", level=1, name=LAB_PAGES[self.name], exact=True)
        ).to_be_visible()
        self.board.wait_for()
        expect(self.page.get_by_text("Predict, then reveal")).to_have_count(1)
        # Streamlit loads the code of its buttons late: without them there seem to be no parts.
        for buttons in (self.part_chooser, self.experiments):
            expect(buttons.first).to_be_visible()
        self.settle()

    def unfold(self) -> None:
        """Open what holds the other controls, and the other pictures."""
        self.page.locator(".st-key-lab_side details").evaluate_all(UNFOLD)
        more = self.board.get_by_role("button", name="more pictures")
        if more.is_visible():
            more.click()
            self.settle()

    @property
    def part_chooser(self) -> Locator:
        return self.page.locator(".st-key-lab_heading").get_by_role("radio")

    def choose_part(self, label: str) -> None:
        with self.redrawn():
            self.page.locator(".st-key-lab_heading").get_by_role("radio", name=label, exact=True).click()
        self.settle()
        self.unfold()

    def settle(self) -> None:
        """Wait until the server has sent all that belongs to the last change, and the page shows it."""
        settle(self.page)
        expect(self.board.locator(".plot[aria-busy=true]:visible")).to_have_count(0)

    @property
    def experiments(self) -> Locator:
        """The buttons of "Try this"."""
        return self.page.locator(".st-key-lab_tries").get_by_role("button")

    def attempt(self, label: str) -> None:
        """Click an experiment of "Try this"."""
        with self.redrawn():
            self.page.locator(".st-key-lab_tries").get_by_role("button", name=label, exact=True).click()
        self.settle()

    def reset(self) -> None:
        with self.redrawn():
            self.page.get_by_role("button", name="Reset", exact=True).click()
        self.settle()

    def shown(self) -> str:
        """All that the board shows but for its sizes: words, numbers, curves and pictures."""
        return self.board.evaluate(SHOWN)

    @property
    def notice(self) -> str:
        return self.board.locator(".notice").inner_text()

    @property
    def problem(self) -> Locator:
        """The box that says what was refused."""
        return self.page.locator(".st-key-problems")

    def panel(self, title: str) -> Locator:
        """The panel with this title."""
        return self.board.locator("figure").filter(has=self.page.locator(f"figcaption:text-is({title!r})"))

    def cells(self, title: str) -> list[list[str]]:
        """What the cells of a matrix show, row by row; of cells that can be edited, what is in them."""
        return self.panel(title).locator("tbody tr").evaluate_all(CELLS)

    def numbers(self, title: str) -> list[list[float]]:
        """The same as numbers; a masked cell is -inf."""
        return [[read_number(cell.removeprefix("≈")) for cell in row] for row in self.cells(title)]

    def cell(self, title: str, row: int, column: int) -> Locator:
        return self.panel(title).locator("tbody tr").nth(row).locator("[data-cell]").nth(column)

    def edit(self, title: str, row: int, column: int, value: str) -> None:
        """Type a number into a cell."""
        field = self.cell(title, row, column).locator("input")
        field.fill(value)
        field.press("Enter")

    def facts(self) -> dict[str, str]:
        """The large numbers, by their labels, with their units."""
        return dict(self.board.locator(".fact").evaluate_all(FACTS))

    def traces(self, title: str) -> list[dict[str, Any]]:
        """What Plotly shows in a panel."""
        return json.loads(self.panel(title).locator(".plot").evaluate(TRACES))

    def hover_cell(self, title: str, row: int, column: int) -> None:
        """Point at a cell of a matrix that is drawn as a picture."""
        figure = self.panel(title).locator(".plot")
        figure.hover(position=figure.evaluate(MIDDLE_OF, [row, column]))

    def bars(self, title: str) -> list[str]:
        """The numbers over the bars of a panel."""
        return self.panel(title).locator(".plot .textpoint").all_text_contents()

    @property
    def slider(self) -> Locator:
        return self.board.locator(".scrub input")

    def scrub(self, frame: int) -> None:
        """Move the slider to a frame; everything on the board follows at once."""
        self.slider.evaluate(
            "(slider, frame) => { slider.value = frame; slider.dispatchEvent(new Event('input')); }", frame
        )
        expect(self.board).to_have_attribute("data-frame", str(frame))

    def link(self) -> dict[str, str]:
        """The query parameters in the address bar, once they are written, but for that of all pictures."""
        expect(self.board).to_have_count(1)  # Streamlit takes one away a moment after it drew the next
        self.board.evaluate(LINKED)
        params = parse_qsl(urlsplit(self.page.evaluate("location.href")).query)
        return dict(each for each in params if each not in MORE.items())

    def open_drawer(self, name: str) -> Locator:
        """Open what the board's button of this name opens beside it."""
        button = self.board.get_by_role("button", name=name, exact=True)
        if button.get_attribute("aria-expanded") == "false":
            button.click()
        drawer = self.page.locator(f".st-key-lab_drawer_{name}")
        expect(drawer).to_be_visible()
        return drawer

    def close_drawer(self) -> None:
        self.page.get_by_role("button", name="Close", exact=True).click()

    def predict(self, question: int, option: str) -> str:
        """Answer a question; what is revealed."""
        self.open_drawer("questions")
        asked = self.page.locator(f".st-key-lab_question_{question}")
        asked.get_by_test_id("stRadioOption").get_by_text(option, exact=True).click()
        revealed = asked.get_by_test_id("stMarkdown").last
        expect(revealed).to_be_visible()
        return revealed.inner_text()
