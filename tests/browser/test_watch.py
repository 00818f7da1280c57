"""What every browser test stands on: the guard notices what it must, and no visitor meets another."""

import pytest


def test_a_console_error_an_uncaught_error_and_a_foreign_request_are_noted(new_page, problems):
    page = new_page(bypass_csp=True)  # else the browser would not even ask another host
    page.goto("/")
    problems.clear()
    page.evaluate("console.error('a mishap')")
    page.evaluate("setTimeout(() => { throw new Error('a fall') })")
    page.evaluate("fetch('http://127.0.0.2:9/', {mode: 'no-cors'}).catch(() => null)")
    page.wait_for_timeout(200)
    noted = "\n".join(problems)
    problems.clear()
    assert "console error: a mishap" in noted
    assert "uncaught error: a fall" in noted
    assert "request to another host: http://127.0.0.2:9/" in noted


@pytest.mark.parametrize("visit", ["first", "second"])
def test_a_visitor_finds_nothing_that_another_left(page, visit):
    page.goto("/_stcore/health")
    found = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert found[:2] == [0, 0] and "left" not in found[2]
    page.evaluate("localStorage.left = sessionStorage.left = document.cookie = 'left=here'")
    assert "left" in {cookie["name"] for cookie in page.context.cookies()}
