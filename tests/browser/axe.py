"""What axe finds on a page that stays open while much on it changes."""

from collections.abc import Sequence

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

AXE = Axe()
# It asks for the page's style sheets as well, which no rule that is on reads.
PRELOADED = {"assets": ["media"]}
ALSO_ON = {"label-content-name-mismatch": {"enabled": True}}
"""A rule that axe leaves off: what is read on a button is a part of what it is called."""
RUN = "(within, options) => axe.run(within, options).then((found) => found.violations)"


ALL = ("minor", "moderate", "serious", "critical")
SERIOUS = ("serious", "critical")


def violations(
    page: Page | Frame, *rules: str, impacts: Sequence[str] = ALL, within: str = ":root"
) -> list[str]:
    """What axe finds of these impacts; with `rules`, by these alone; with `within`, in that element alone.

    A page is given axe once: its code is large.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    options = {"resultTypes": ["violations"], "preload": PRELOADED} | (
        {"runOnly": list(rules)} if rules else {"rules": ALSO_ON}
    )
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for violation in page.locator(within).evaluate(RUN, options)
        if violation["impact"] in impacts
        for node in violation["nodes"]
    ]
