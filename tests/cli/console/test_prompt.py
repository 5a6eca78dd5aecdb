"""The prompt in a pseudo-terminal: completion, history, cancelling, errors, paging, leaving."""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from tests.cli.console.helpers import COLUMNS, PEOPLE, people_csv
from tests.postgres_load import Loader

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # of forkpty, by pexpect
COMMAND = [sys.executable, "-c", "from sqlaudit.cli import main; main()"]
ENDLESS = "SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3;"
SLOW_IN_POSTGRES = "SELECT count(*) AS n FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b;"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
OTHERS = ("PG", "LESS", "PAGER", "COLUMNS", "LINES")
"""What the environment of the tests says of other terminals and servers."""
Start = Callable[..., "Terminal"]


BEGINS, ENDS = r"\x1b\[\?2004l", r"\x1b\[\?2004h"
"""What the line editor sends when it hands a line over, and when it waits for the next."""


class Terminal:
    """A console in a pseudo-terminal."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self.child = child

    def type(self, *texts: str, end: str = "\r") -> None:
        """Type something, then Enter. A text may be (what is typed, what the tab key has to make of it)."""
        for text in texts:
            typed, _, wanted = text.partition("\t")
            self.child.send(typed)
            if wanted:
                self.child.expect_exact(typed[-3:])
                self._completed(wanted)
        self.child.send(end)

    def _completed(self, wanted: str) -> None:
        """Press the tab key, as often as a person would when nothing comes."""
        for patience in (20, 20, 60):
            self.child.send("\t")
            if self.child.expect_exact([wanted, pexpect.TIMEOUT], timeout=patience) == 0:
                return
        raise AssertionError(f"the tab key did not make {wanted!r} of it")

    def shown(self, end: str = ENDS) -> str:
        """What is shown until the next line can be typed, without escape sequences."""
        self.child.expect(BEGINS)
        return self.until(end)

    def until(self, end: str = ENDS) -> str:
        """The same, of a step that runs already."""
        self.child.expect(end)
        return ESCAPES.sub("", self.child.before or "")

    def ask(self, *texts: str) -> str:
        """Type something, and return what is shown."""
        self.type(*texts)
        return self.shown()

    def left(self) -> int | None:
        """The exit code, when the console has ended."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(arguments)` opens a console, which is ended with the test."""
    children = []

    def opened(*arguments: object, **environment: str) -> Terminal:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
        child = pexpect.spawn(
            COMMAND[0],
            [*COMMAND[1:], "console", *map(str, arguments)],
            encoding="utf-8",
            timeout=60,
            dimensions=(24, 80),
            cwd=str(tmp_path),
            env={
                **kept,
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                "XDG_STATE_HOME": str(tmp_path / "state"),
                "NO_COLOR": "1",
                "PAGER": "cat",
                **environment,
            },
        )
        children.append(child)
        terminal = Terminal(child)
        terminal.until()
        return terminal

    yield opened
    for child in children:
        child.close(force=True)


def test_a_session_at_the_prompt(start: Start, tmp_path: Path) -> None:
    terminal = start(people_csv(tmp_path))
    assert terminal.ask("SELECT sex, count(*) AS n FROM people GROUP BY sex ORDER BY sex;") == (
        "sex | n\n----+--\nf   | 4\nm   | 4\n(2 rows)\n"
    )
    # an error says where, and the session goes on
    assert terminal.ask("AUDIT people BY age;") == (
        "AUDIT people BY age\n                ^\n"
        "sqlaudit: AUDIT, line 1, column 17: the quasi-identifiers must be in parentheses: BY (age, sex).\n"
    )
    assert "Did you mean 'age'?" in terminal.ask("\\qi agee")
    assert terminal.ask("DROP TABLE people;") == "sqlaudit: The console only reads, but this is a DROP statement.\n"
    # several lines are one statement
    terminal.type("SELECT count(*)")
    terminal.until("->")
    assert terminal.ask("AS n FROM people;") == "n\n-\n8\n(1 row)\n"
    assert terminal.ask("SELECT 1 AS one; SELECT 2 AS two;").count("(1 row)") == 2
    # what stands in values is shown, not obeyed
    assert terminal.ask("SELECT 'a' || chr(27) || '[31m' AS x;").splitlines()[2] == "a\\x1b[31m"
    # Ctrl-C at the prompt drops the line, Ctrl-D leaves
    terminal.type("SELECT 'half", end="\x03")
    terminal.shown()
    terminal.type("SELECT 7 AS seven", end="\x1b\r")  # Alt-Enter runs what has no semicolon
    assert terminal.shown() == "seven\n-----\n    7\n(1 row)\n"
    assert "Effect" in terminal.ask("help")
    terminal.type(end="\x04")
    assert terminal.left() == 0


def test_one_session_completes_and_pages(start: Start, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\nlines=$(wc -l)\necho "paged" $lines "lines"\n', encoding="utf-8")
    pager.chmod(0o755)
    terminal = start(people_csv(tmp_path), PAGER=str(pager))
    the_tab_key_completes(terminal)
    long_results_are_paged(terminal)


def the_tab_key_completes(terminal: Terminal) -> None:
    assert terminal.ask("\\sens\titive", " dis\tease") == ""
    assert "disease" in terminal.ask("\\entit\ty")
    assert "cold" in terminal.ask("selec\tt", " min(dise\tase", ") AS first fro\tm", " peo\tple", ";")
    assert terminal.ask("\\requ\tire", " prosec\tutor_risk", "=0.5") == ""
    assert "prosecutor_risk=0.5" in terminal.ask("\\require")
    assert "4 columns" in terminal.ask("\\d 'people.c\tsv", "'")


def test_ctrl_c_cancels_the_query_and_never_the_console(start: Start, tmp_path: Path) -> None:
    terminal = start(people_csv(tmp_path), "--threads", "1")
    terminal.type(ENDLESS)
    terminal.shown("rows")  # the bar that appears when something takes long
    terminal.child.send("\x03")
    assert "sqlaudit: cancelled." in terminal.until()
    assert terminal.ask("SELECT count(*) AS n FROM people;") == "n\n-\n8\n(1 row)\n"
    terminal.type("\\q")
    assert terminal.left() == 0


@pytest.mark.postgres
def test_ctrl_c_on_postgresql(start: Start, load: Loader, postgres_url: str) -> None:
    load("console_prompt", PEOPLE, COLUMNS)
    terminal = start("--db", postgres_url, "console_prompt")
    terminal.type(SLOW_IN_POSTGRES)
    terminal.shown("rows")
    terminal.child.send("\x03")
    assert "sqlaudit: cancelled." in terminal.until()
    shown = terminal.ask("SELECT count(*) AS n, min(dise\tase", ") AS d FROM console_pro\tole_prompt", ";")
    assert shown == "n | d\n--+-----\n8 | cold\n(1 row)\n"


def long_results_are_paged(terminal: Terminal) -> None:
    assert terminal.ask("SELECT range AS n FROM range(5000);") == "paged 1003 lines\n"
    assert terminal.ask("\\limit 7") == "sqlaudit: a SELECT shows the first 7 rows.\n"
    assert terminal.ask("SELECT range AS n FROM range(5000);").endswith("(the first 7 rows; there are more)\n")
    wide = ", ".join(f"'some text' AS column_{number}" for number in range(9))
    assert terminal.ask(f"SELECT {wide};") == "paged 4 lines\n"


def test_the_history_holds_what_was_typed_and_nothing_that_was_found(start: Start, tmp_path: Path) -> None:
    terminal = start(people_csv(tmp_path))
    assert "148-53" in terminal.ask("SELECT * FROM people;")
    terminal.type("\\q")
    terminal.left()
    file = tmp_path / "state" / "sqlaudit" / "console_history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("+")]
    assert kept == ["+SELECT * FROM people;", "+\\q"]
    again = start(tmp_path / "people.csv")
    again.type("\x1b[A\x1b[A")  # the arrow that goes back in the history, twice
    assert "148-53" in again.shown()


def test_without_a_terminal_there_is_no_prompt(tmp_path: Path) -> None:
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"'{COMMAND[0]}' -c '{COMMAND[2]}' console | cat"],
        encoding="utf-8",
        timeout=60,
        cwd=str(tmp_path),
    )
    child.expect("A prompt needs a terminal. Run statements with -c or -f.")
    child.expect(pexpect.EOF)


@pytest.mark.parametrize(
    ("number", "code", "at_work"),
    [
        (signal.SIGTERM, 143, True),
        (signal.SIGHUP, 129, False),
        pytest.param(signal.SIGTERM, 143, False, marks=pytest.mark.all_cases),
        pytest.param(signal.SIGHUP, 129, True, marks=pytest.mark.all_cases),
    ],
)
def test_a_signal_leaves_the_console(start: Start, tmp_path: Path, number: int, code: int, at_work: bool) -> None:
    terminal = start(people_csv(tmp_path))
    if at_work:
        terminal.type(ENDLESS)
        terminal.child.expect(BEGINS)
    terminal.child.kill(number)
    assert terminal.left() == code
