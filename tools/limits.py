"""Print the limits in force: each with its value, its default and its reason.

python -m tools.limits
"""

from typing import Any

from models.limits import declared, in_force


def table() -> str:
    """A line for each limit; a star marks what is not as it comes."""
    found = in_force()
    rows = [
        (
            f"{'*' if value != rule['default'] else ' '} {name}",
            _said(value),
            _said(rule["default"]),
            rule["reason"],
        )
        for name, rule in declared().items()
        for value in [_plain(getattr(found, name))]
    ]
    rows = [("  limit", "in force", "default", "reason"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}" for row in rows
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return (", ".join(value) if isinstance(value, list) else value) or "–"


if __name__ == "__main__":
    print(table())
