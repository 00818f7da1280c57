"""Findings without a server: each as it was measured, at its usual parameters on the model that ships."""

from attention_lab.models.findings import Finding, findings
from attention_lab.models.zoo.catalogue import shipped
from attention_lab.pages.findings.board import board_of, claim
from attention_lab.pages.findings.measurement import usual_outcome
from attention_lab.pages.findings.state import FIRST
from attention_lab.pages.shared.board.message import message
from attention_lab.viz_core.viewer.static.documents import Part, State


def parts_of() -> list[Part]:
    """The findings on shipped models, in the order of the page's list."""
    names = sorted(findings(), key=lambda name: name != FIRST)
    return [_part(finding) for name in names if (finding := findings()[name]).model in ("", *shipped())]


def _part(finding: Finding) -> Part:
    board = board_of(usual_outcome(finding))
    rule, caveat = finding.words()
    link = {} if finding.name == FIRST else {"finding": finding.name}
    said = (claim(finding), f"**It holds here if** {rule}.", f"**What this cannot say.** {caveat}")
    words = {"see": "\n\n".join(said)}
    content = message(
        board, part=finding.name, link=link, at=0 if board.scrub else None, usual=0, fits=True,
        claim=f"**The claim.** {finding.brief}", where=f"Findings · {finding.title}", words=words,
    )  # fmt: skip
    needs = ["other models and other parameters"]
    return Part(finding.name, finding.title, [State(content, link)], needs=needs)
