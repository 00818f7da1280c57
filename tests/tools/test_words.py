"""What tools/words.py finds in the sources; `make static` holds the catalogues that ship against it."""

import pytest

from tools import words

PYTHON = '''
"""A docstring is no message."""
KEY = "st-key"
say(f"With {channels(n)} and {share:.2f}, {'it' if n == 1 else 'they'} look{'s' * (n == 1)} away.")
st.button("Reset")
{"full": "Whole", "row": f"<b>one row</b>"}
refuse("first line\\nsecond line {name}")
rows["not a message"]
'''
JAVASCRIPT = """
/* not a message */
import { t } from "./not a message.js";
const link = button({ class: "not a message", text: "copy link", "aria-label": t("Close") });
const said = `with ${n} of ${t("all")}`; // it's not a message
const any = /"not a message/.test(text) ? "it is" : 'it isn\\'t';
"""
TOML = """
formula = "not a message"
see = '''
Two
lines.'''
[tries]
"deviation 3" = { deviation = 3.0 }
[[questions]]
ask = "How much?"
options = ["Nothing", "{n:short} nats of {all}"]
[shapes]
x = "not, a message"
"""


@pytest.mark.parametrize(
    ("ending", "code", "found"),
    [
        (
            ".py",
            PYTHON,
            [
                *(f"With {{0}} and {{1:n}}, {words} away." for words in ("it look", "it looks")),
                *(f"With {{0}} and {{1:n}}, {words} away." for words in ("they look", "they looks")),
                *("Reset", "Whole", "one row", "first line", "second line {0}"),
            ],
        ),
        (".js", JAVASCRIPT, ["copy link", "Close", "all", "with {0} of {1}", "it is", "it isn't"]),
        (".toml", TOML, ["Two lines.", "deviation 3", "How much?", "Nothing", "{0:n} nats of {1}"]),
    ],
)
def test_what_people_read_is_found(ending: str, code: str, found: list[str]) -> None:
    assert sorted(words.READERS[ending](code)) == sorted(found)
