"""The guard that every browser test stands on notices what it must."""


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
