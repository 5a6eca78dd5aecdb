"""Write the table of measures in docs/release.md from their registry: python docs/make_measures.py [--print]"""

from __future__ import annotations

import sys
from pathlib import Path

from sqlaudit.models.measures import OF_RELEASES, Measure

PAGE = Path(__file__).with_name("release.md")
START, END = "<!-- measures: docs/make_measures.py -->", "<!-- end of measures -->"
HEAD = "| measure | what it is | from | to | coarser never loses less | needs | source |"
_MONOTONE = {"yes": "yes", "classes": "if whole classes merge", "no": "no"}


def row(one: Measure) -> str:
    """A measure's line."""
    needs = [
        name for name, wanted in (("pairs of rows", one.needs_pairs), ("a sensitive column", one.sensitive)) if wanted
    ]
    better = "; higher is better" if one.complement else ""
    cells = (
        f"`{one.name}`",
        f"**{one.title}**{better}. {one.definition}",
        one.lowest,
        one.highest,
        _MONOTONE[one.monotone],
        ", ".join(needs) or "–",
        one.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table() -> str:
    """The whole table."""
    return "\n".join([HEAD, "| --- " * 7 + "|", *(row(one) for one in OF_RELEASES.values())])


def page() -> str:
    """The page with the table as the registry has it."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(table())
    else:
        PAGE.write_text(page(), encoding="utf-8")
