"""Records a session of the console on the demo's table, typed in a real terminal, as docs/console.svg.

Run from a checkout with the extra `test`: python docs/make_console.py
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pexpect
from pygments import highlight
from pygments.formatters import TerminalFormatter
from rich.console import Console
from rich.text import Text

from sqlaudit.cli import demo
from sqlaudit.cli.console.run import ConsoleLexer

COLUMNS = 88
BEGINS, ENDS = r"\x1b\[\?2004l", r"\x1b\[\?2004h"
"""What the line editor sends when it hands a line over, and when it waits for the next."""
TYPED = (
    "SELECT injtype, count(*) AS claims FROM injury GROUP BY injtype ORDER BY claims DESC LIMIT 3;",
    "AUDIT injury BY age;",
    "\\use SELECT * FROM injury WHERE age IS NOT NULL AND male IS NOT NULL",
    "\\qi age male",
    "\\require k >= 5",
    "\\classes below 5",
    "\\generalize age 10",
    "\\generalize age least(floor(age / 10) * 10, 60)",
)


def record(folder: Path) -> str:
    """The session as text with colours: what was typed, and what the console showed."""
    demo.write_table(folder / "injury.parquet", demo.table())
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "PROMPT_TOOLKIT_NO_CPR": "1",
        "PAGER": "cat",
        "SQLAUDIT_HISTORY": "",
    }
    environment.pop("NO_COLOR", None)
    command = ["-c", "from sqlaudit.cli import main; main()", "console", "injury.parquet"]
    child = pexpect.spawn(
        sys.executable,
        command,
        cwd=str(folder),
        env=environment,
        encoding="utf-8",
        timeout=120,
        dimensions=(60, COLUMNS),
    )
    child.expect(ENDS)
    parts = []
    for line in TYPED:
        child.send(line + "\r")
        child.expect(BEGINS)
        child.expect(ENDS)
        shown = child.before.replace("\r", "")
        parts.append(f"injury=> {highlight(line, ConsoleLexer(), TerminalFormatter())}{shown}")
    child.sendline("\\q")
    child.expect(pexpect.EOF)
    return "".join(parts)


def picture(session: str) -> str:
    """The session as an SVG that asks for nothing, not even for a font."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="256")
    console.print(Text.from_ansi(session))
    svg = console.export_svg(title="sqlaudit console injury.parquet", unique_id="console")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        drawn = picture(record(Path(empty)))
    (Path(__file__).parent / "console.svg").write_text(drawn, encoding="utf-8")
