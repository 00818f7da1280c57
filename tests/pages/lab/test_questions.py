"""Questions of all parts: no answer is written down, each is computed."""

import ast
from pathlib import Path

import pages.lab

FILES = sorted(Path(pages.lab.__path__[0]).rglob("*.py"))


def answers_of(file: Path) -> list[ast.expr]:
    """What stands for `right` in each question of the file."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return [call.args[2] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Question"]


def test_every_right_answer_depends_on_something_computed() -> None:
    answers = [(file, answer) for file in FILES for answer in answers_of(file)]
    assert len(answers) > 100
    for file, answer in answers:
        names = [node for node in ast.walk(answer) if isinstance(node, ast.Name)]
        assert names, f"{file}:{answer.lineno} is the literal {ast.unparse(answer)}"
