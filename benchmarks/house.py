"""How large the program is: lines, modules, imports, the longest chain of them, circles.

`python -m benchmarks.house` prints the table of the checkout that it stands in, and the longest chain.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("app.py", "pages", "viz_core", "models", "tools")
PACKAGES = ("attention_lab.pages", "attention_lab.viz_core", "attention_lab.models")
ENDINGS = (".py", ".js", ".ts", ".css")


def files(*places: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from [path] if path.is_file() else (f for f in path.rglob("*") if f.suffix in ENDINGS)


def lines(*places: str) -> int:
    return sum(len(file.read_text().splitlines()) for file in files(*places))


def circles_and_chain(imports: dict[str, set[str]]) -> tuple[list[set[str]], tuple[str, ...]]:
    """The groups of modules that import each other in a circle, and the longest chain."""
    reached = {module: reachable(module, imports) for module in imports}
    circles = {frozenset(m for m in reached[module] if module in reached[m]) for module in imports}

    @cache
    def chain(module: str) -> tuple[str, ...]:
        further = sorted(m for m in imports[module] if m in imports and module not in reached[m])
        return module, *max(map(chain, further), default=(), key=len)

    return [set(circle) for circle in circles if circle], max(map(chain, sorted(imports)), key=len)


def reachable(module: str, imports: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    left = [module]
    while left:
        new = imports.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def imports_between() -> dict[str, set[str]]:
    """By each module of the app those that it imports."""
    graph = grimp.build_graph("attention_lab", include_external_packages=False, cache_dir=None)
    modules = {each for each in graph.modules if each.startswith(PACKAGES)}
    return {module: graph.find_modules_directly_imported_by(module) & modules for module in modules}


def main() -> None:
    imports = imports_between()
    circles, longest = circles_and_chain(imports)
    rows = {
        "product lines (py, js, ts, css)": f"{lines(*PRODUCT):,}",
        "lines of tests": f"{lines('tests'):,}",
        "modules (py)": f"{sum(file.suffix == '.py' for file in files(*PRODUCT)):,}",
        "imports between them": f"{sum(map(len, imports.values())):,}",
        "longest chain": str(len(longest)),
        "circles": "; ".join(", ".join(sorted(circle)) for circle in circles) or "none",
        "lines of README.md": str(len((ROOT / "README.md").read_text().splitlines())),
    }
    print("| | |\n| --- | ---: |")
    for name, value in rows.items():
        print(f"| {name} | {value} |")
    print("\nThe longest chain, each importing the next:", *longest, sep="\n")


if __name__ == "__main__":
    main()
