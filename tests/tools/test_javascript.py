"""Others' code ships with the licences of all that is in it."""

import re
from pathlib import Path

from tools.javascript import OTHERS, VENDORED
from tools.site import Site

GRANT = re.compile(
    r"Permission\s+(to\s+use|is\s+(hereby\s+)?granted)|Redistribution\s+and\s+use", re.IGNORECASE
)


def test_each_file_of_others_lies_with_the_licences_of_all_packages_within():
    assert {file.name for file in VENDORED.glob("*.js")} == set(OTHERS)
    for name, (_, packages) in OTHERS.items():
        text = (VENDORED / f"{name}.LICENSE").read_text("utf-8")
        each = re.split(rf"^(?:{'|'.join(map(re.escape, packages))})\n\n", text, flags=re.MULTILINE)[1:]
        assert len(each) == len(packages)
        assert all(GRANT.search(licence) and "Copyright" in licence for licence in each)


def test_the_licences_of_what_is_within_plotly_are_those_of_its_version():
    [version] = re.findall(r"^\* plotly\.js .* v(\S+)", (VENDORED / "plotly.js").read_text("utf-8"), re.M)
    head, *parts = re.split(r"\n-{40}\n", (VENDORED / "plotly.js.parts.LICENSE").read_text("utf-8"))
    assert head.startswith(f"plotly.js {version} (cartesian)")
    assert len(parts) > 20 and all(GRANT.search(part) for part in parts)


def test_the_site_has_them_at_its_root(tmp_path: Path):
    Site(tmp_path / "site")
    for name in [*OTHERS, "plotly.js.parts"]:
        assert (tmp_path / "site" / f"{name}.LICENSE").is_file()
