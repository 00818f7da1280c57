"""The viewer as one script: every module once, with its own names."""

import re
from pathlib import Path

import pytest

from attention_lab.viz_core.viewer import program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def write(folder: Path, **files: str) -> None:
    folder.mkdir()
    for name, code in files.items():
        (folder / f"{name}.js").write_text(code)


def test_what_a_module_imports_stands_before_it_once_and_keeps_its_own_names(folder):
    write(
        folder,
        top='import { shared } from "./deep.js";\nimport {\n  one,\n  two,\n} from "./side.js";\n\n'
        "const own = 1;\nexport const top = () => shared + one + two + own;\n",
        side='import { shared } from "./deep.js";\nconst own = 2;\nexport const one = own;\n'
        "export async function two() {}\n",
        deep="export class shared {}\n",
    )
    code = program.assembled_script([folder / "top.js"])
    assert re.findall(r"^const module_lab_\w+", code, re.M) == [
        "const module_lab_deep", "const module_lab_side", "const module_lab_top",
    ]  # fmt: skip
    assert "const { shared } = module_lab_deep;" in code
    assert "const {\none,\ntwo,\n} = module_lab_side;" in code
    assert "return { one, two };" in code
    assert not re.search(r"^(import|export)", code, re.M)


def test_modules_that_need_each_other_are_refused_with_the_way_round(folder):
    write(
        folder,
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { a } from "./a.js";\nexport const b = 1;\n',
    )
    with pytest.raises(ValueError, match=r"in a circle: a\.js -> b\.js -> a\.js; move what both need"):
        program.assembled_script([folder / "a.js"])


@pytest.mark.parametrize("line", ['import a from "./a.js";', "export default 1;", "export let x = 1;"])
def test_another_way_to_import_or_export_is_refused(folder, line):
    write(folder, a="", b=line + "\n")
    with pytest.raises(ValueError, match=r"b\.js: .* is not understood"):
        program.assembled_script([folder / "b.js"])
