"""Write the matrix of dialects in docs/compile.md from what is known of them: python docs/make_dialects.py [--print]"""

from __future__ import annotations

import sys
from pathlib import Path

from sqlaudit.gates.standalone.names import DIALECTS, Dialect

PAGE = Path(__file__).with_name("compile.md")
START, END = "<!-- dialects: docs/make_dialects.py -->", "<!-- end of dialects -->"
HEAD = "| `--dialect` | product | executed by the tests on | assumptions and notes |"


def row(name: str, one: Dialect) -> str:
    """A dialect's line."""
    known = "; ".join([*one.assumed, *([one.note.rstrip(".")] if one.note else [])])
    cells = (f"`{name}`", one.title, one.executed_on or "**unproven**: parsed by sqlglot", known or "–")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table() -> str:
    """The whole matrix."""
    return "\n".join([HEAD, "| --- " * 4 + "|", *(row(name, one) for name, one in DIALECTS.items())])


def page() -> str:
    """The page with the matrix as it is."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(table())
    else:
        PAGE.write_text(page(), encoding="utf-8")
