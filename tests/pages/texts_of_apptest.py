"""What a page under `AppTest` says in plain text."""

import html
import re

from streamlit.testing.v1 import AppTest


def texts(page: AppTest) -> list[str]:
    """What is read out at once, such as what was wrong with an input, then its other texts."""
    alerts = [each.value for each in page.get("html") if 'role="alert"' in each.value]
    read_out = [html.unescape(re.sub("<[^>]*>", "", alert)) for alert in alerts]
    return read_out + [text.value for text in page.text]
