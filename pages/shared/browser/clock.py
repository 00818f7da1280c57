"""What runs a fragment again and again, such as one that says how far some work is."""

from functools import cache
from typing import Any

from attention_lab.pages.shared import st

# Streamlit's own `run_every` counts from when its message comes. In a busy browser it then asks before the
# widgets show what a run has set, and says their old values of them as if a person had chosen those. This
# counts from when the fragment is shown, and asks when the browser has nothing else to do.
_ASK = """export default ({ data, parentElement, setTriggerValue }) => {
  const whenIdle = globalThis.requestIdleCallback ?? setTimeout; // Safari has no idle callbacks
  clearInterval(parentElement.clock);
  parentElement.clock = setInterval(() => whenIdle(() => setTriggerValue("due", true)), data);
  return () => clearInterval(parentElement.clock);
};"""


def run_again(seconds: float, key: str) -> None:
    """Runs the fragment that calls this again every so many seconds, as long as it calls this."""
    with st.container(key=f"code_{key}"):
        _clock()(data=round(1_000 * seconds), key=f"clock.{key}", on_due_change=lambda: None)


@cache
def _clock() -> Any:
    return st.components.v2.component("attention_lab_clock", js=_ASK)
