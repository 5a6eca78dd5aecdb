"""Plots of bars in text: right lengths, no line too long, only where they were asked for."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from sqlaudit.audits.report import risk_picture, sizes_picture
from sqlaudit.base.errors import InputError
from sqlaudit.reports.document import Document, Picture, Section, in_encoding
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import KNOWLEDGE, PlotLine, bar, plotted, render_text
from tests.cli.runner import patients
from tests.cli.test_session import COMMAND
from tests.reports.samples import result

CURVES = {
    "curves": {"any": [[0, 0.25], [1, 0.5], [2, 1.0]], "negated": [[0, 0.25], [1, 1 / 3], [2, 0.5]]},
    "x": KNOWLEDGE,
    "y": "maximum disclosure",
    "limit": 0.5,
}


def lines_of(picture: Picture, width: int = 40) -> list[str]:
    """The plot as text, without what surrounds it."""
    document = Document("Head", (), (Section("Section", (picture,)),))
    return render_text(document, width, plots=True, glossary=False).splitlines()[3:]


@pytest.mark.parametrize(
    ("share", "columns", "drawn"),
    [
        (0, 8, ""),
        (1, 8, "████████"),
        (0.5, 8, "████"),
        (0.53125, 8, "████▎"),
        (1 / 64, 8, "▏"),
        (1e-9, 8, "▏"),
        (0.999, 8, "████████"),
        (0.99, 8, "███████▉"),
        (7, 2, "██"),
        (-1, 2, ""),
    ],
)
def test_a_bar_is_right_to_an_eighth(share: float, columns: int, drawn: str) -> None:
    assert bar(share, columns) == drawn


def test_bars_of_class_sizes_are_as_long_as_their_numbers() -> None:
    picture = sizes_picture(result())
    assert picture is not None
    assert lines_of(picture, 50) == [
        "  group size: rows",
        "         1  ▉                          3 (below 5)",
        "         2  ▋                          2 (below 5)",
        "   5 to 10  ███▋                       12",
        "  20 to 99  █████████████████████████  83",
    ]


def test_a_band_that_the_limit_divides_is_said_to_be_divided() -> None:
    data = {
        "labels": ["5 to 10", "11"],
        "from": [5, 11],
        "to": [10, 11],
        "values": [2, 1],
        "safe": 8,
        "x": "x",
        "y": "y",
    }
    assert lines_of(Picture("sizes", "", data))[1:] == [
        "  5 to 10  ███████████  2 (some below 8)",
        "       11  █████▌       1",
    ]


def test_both_attackers_one_after_the_other() -> None:
    assert lines_of(Picture("curves", "", CURVES), 40) == [
        "  maximum disclosure by k, any",
        "  0  ██████▊                      0.25",
        "  1  █████████████▌               0.5",
        "  2  ███████████████████████████  1",
        "",
        "  maximum disclosure by k, negated",
        "  0  ██████▊         0.25",
        "  1  █████████       0.3333",
        "  2  █████████████▌  0.5",
    ]
    tones = [line.tone for line in plotted(Picture("curves", "", CURVES), 40)]
    assert tones == ["plain", "plain", "bad", "bad", "plain", "plain", "plain", "bad"]


@pytest.mark.parametrize("width", [40, 57, 80, 100])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    sizes = sizes_picture(result())
    assert sizes is not None
    for picture in (sizes, Picture("curves", "", CURVES)):
        lines = lines_of(picture, width)
        assert max(map(cell_len, lines)) <= width
        assert any("█" in line for line in lines)


def test_a_long_curve_is_thinned_and_keeps_its_ends() -> None:
    points = [[k, k / 100] for k in range(101)]
    lines = plotted(Picture("curves", "", {**CURVES, "curves": {"any": points}}), 80)
    assert [line.label for line in lines[1:]] == [*(str(k) for k in range(0, 100, 5)), "100"]
    assert lines[-1] == PlotLine("100", "█" * 48, "1", "bad")


def test_nothing_but_the_sizes_and_the_disclosure_is_plotted() -> None:
    risk = risk_picture(result())
    assert risk is not None
    assert plotted(risk, 80) == []
    assert plotted(Picture("bars", "", {"names": [], "series": {}, "x": "share"}), 80) == []


@pytest.mark.parametrize("data", [{}, {"x": KNOWLEDGE, "y": "", "curves": {"a": [1]}}, {**CURVES, "curves": 3}])
def test_a_damaged_picture_is_told(data: dict[str, Any]) -> None:
    for kind in ("sizes", "curves"):
        with pytest.raises(InputError, match="damaged"):
            plotted(Picture(kind, "", data), 80)


def test_texts_in_data_steer_nothing() -> None:
    data = {"labels": ["\x1b[2J"], "from": [1], "values": [1], "safe": 0, "x": "\x1b[31m", "y": "rows"}
    assert lines_of(Picture("sizes", "", data)) == ["  \\x1b[31m: rows", "  \\x1b[2J  ██████████████████████████  1"]


def test_an_output_without_blocks_gets_ascii_of_the_same_length() -> None:
    assert in_encoding("██▌▏|▉▍", "ascii") == "###||#|"
    assert in_encoding("██▌", "utf-8") == "██▌"


def test_plain_text_has_no_plot() -> None:
    document = document_of(result())
    assert "█" not in render_text(document)
    assert "█" in render_text(document, plots=True)
    assert "\x1b" not in render_text(document, plots=True)
    assert "\x1b[1;31m█" in render_text(document, colour=True, plots=True)


def at_terminal(*arguments: str, **environment: str) -> str:
    """What a command shows at a terminal of 60 columns."""
    ours, theirs = pty.openpty()
    given = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "PYTHONIOENCODING": "utf-8"} | environment
    shown = b""
    with subprocess.Popen([*COMMAND, *arguments], stdout=theirs, env=given):
        os.close(theirs)
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # the other side has closed
            pass
    os.close(ours)
    return shown.decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_shows_plots_and_a_pipe_does_not(tmp_path: Path) -> None:
    asked = ("audit", str(patients(tmp_path)), "--qi", "age,sex", "--require", "k=3")
    plain = at_terminal(*asked, NO_COLOR="1")
    assert [line for line in plain.splitlines() if "█" in line] == [
        "        1  ███████▎                              1 (below 3)",
        "        2  ██████████████▍                       2 (below 3)",
        "   3 to 4  ████████████████████████████▊         4",
        "  5 to 10  ████████████████████████████████████  5",
    ]
    assert "\x1b" not in plain
    ascii_only = at_terminal(*asked, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "#" in ascii_only
    assert "█" not in ascii_only
    piped = subprocess.run([*COMMAND, *asked], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert piped.returncode == 1
    assert "█" not in piped.stdout
    assert "\x1b[1;31m█" in at_terminal(*asked)
