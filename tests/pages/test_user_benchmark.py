"""The runner that writes the first tables of docs/performance.md: its lines, its ratios, and where its tables go."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import cliffs, user

NAMES = (
    *("people.parquet", "released.parquet", "visits.parquet", "forty.csv", "people.csv"),
    *("register.csv", "large.csv", "wide.csv", "explored.parquet", "more.parquet"),
)


def test_the_page_has_one_place_for_every_group_of_lines(tmp_path: Path) -> None:
    page = user.PAGE.read_text(encoding="utf-8")
    made = {name: tmp_path / name for name in NAMES}
    names = {line.group for line in user.lines(made, user.Sizes(), tmp_path, "postgresql://here/people")} | {"cliffs"}
    assert names == set(user.GROUPS.split(","))
    assert {name: page.count(user.BEGIN.format(name)) for name in names} == dict.fromkeys(names, 1)


def test_a_table_takes_its_place_and_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    kept = user.BEGIN.format("audit") + "old\n" + user.END
    page.write_text("# Title\n\n" + user.BEGIN.format("start") + "old\n" + user.END + "\n" + kept, encoding="utf-8")
    monkeypatch.setattr(user, "PAGE", page)
    user.write({"start": ["| new |"]}, 3)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n" + user.BEGIN.format("start") + "\n| table | command | CPU |")
    assert (
        "| new |\n\nMedians of 3 runs of each side; what takes over 30 s ran once.\n\n" + user.END + "\n" + kept in text
    )
    user.write({"start": ["| newer |"]}, 1)
    assert "| new |" not in page.read_text(encoding="utf-8")


def test_a_row_compares_whole_processes(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    (programs / "sqlaudit").write_text(f"#!{sys.executable}\nsum(range(10))\n", encoding="utf-8")
    (programs / "sqlaudit").chmod(0o755)
    line = user.Line("start", "people, seed 7", "nothing", ("--help",), "sum(range(10))", "Python")
    cells = user.measured(line, programs, tmp_path, 1).split(" | ")
    assert (cells[:2], cells[5], len(cells)) == (["| people, seed 7", "nothing"], "Python", 9)
    alone = user.measured(user.Line("start", "", "nothing", ()), programs, tmp_path, 1)
    assert alone.endswith("| none |  |  |  |")


def test_the_peak_of_a_command_is_its_own(tmp_path: Path) -> None:
    large = bytearray(b"x" * 300_000_000)
    spent, code = user.run([sys.executable, "-c", "import sys; sys.exit(3)"], tmp_path)
    assert (len(large), code) == (300_000_000, 3)
    assert 1 < spent.peak < 100


def test_what_is_long_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[float] = []

    def run(command: Sequence[str], folder: Path) -> tuple[user.Spent, int]:
        ran.append(29.0 if "short" in command else 31.0)
        return user.Spent(1.0, ran[-1], 1.0), 0

    monkeypatch.setattr(user, "run", run)
    for name, runs in (("short", [29.0] * 6), ("long", [31.0] * 2)):
        ran.clear()
        user.measured(user.Line("start", "", name, (name,), (name,), "itself"), tmp_path, tmp_path, 2)
        assert ran == runs


def test_anchors_read_what_they_count(tmp_path: Path) -> None:
    """DuckDB leaves out an aggregate that no one reads, and such an anchor takes half of the time."""
    made = {name: tmp_path / name for name in NAMES}
    found = user.lines(made, user.Sizes(), tmp_path, "postgresql://here/people")
    steep = [user.Line("cliffs", *line) for line in cliffs.lines(tmp_path, cliffs.SMALL)]
    grouping = [line.anchor for line in (*found, *steep) if isinstance(line.anchor, str) and "GROUP BY" in line.anchor]
    assert len(grouping) > 20
    assert not [anchor for anchor in grouping if "sum(c)" not in anchor]


def test_tables_are_made_once_and_only_for_the_lines_that_read_them(tmp_path: Path) -> None:
    sizes = user.Sizes(2_000, 300, 400, 60, 100, 100)
    made = user.tables(tmp_path, sizes, ["columns"])
    assert tuple(made) == NAMES
    assert {path.name for path in tmp_path.iterdir()} == {"register.csv", "large.csv", "wide.csv"}
    heads = {name: made[name].read_text(encoding="utf-8").splitlines() for name in ("register.csv", "wide.csv")}
    assert {name: (len(lines) - 1, lines[0].count(",") + 1) for name, lines in heads.items()} == {
        "register.csv": (300, 20),
        "wide.csv": (60, 120),
    }
    made["wide.csv"].write_text("kept", encoding="utf-8")
    user.tables(tmp_path, sizes, ["columns", "start"])
    assert made["wide.csv"].read_text(encoding="utf-8") == "kept"
    assert len(made["forty.csv"].read_text(encoding="utf-8").splitlines()) == 41


def test_a_column_that_follows_from_another_one_tells_nothing_more(tmp_path: Path) -> None:
    lines = user.register(500, 5, tmp_path / "register.csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split(",") for line in lines]
    assert len({(row[2], row[3]) for row in rows}) == len({row[2] for row in rows})
    assert len({(row[1], row[4]) for row in rows}) == len({row[1] for row in rows})


def test_cliffs_have_tables_of_their_own_which_are_made_once(tmp_path: Path) -> None:
    sizes = cliffs.SMALL
    found = cliffs.lines(tmp_path, sizes)
    tables = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.*") if path.suffix != ".json"}
    read = {Path(word).name for _, _, command, _, _ in found for word in command if word.startswith(str(tmp_path))}
    assert {name for name in read if not name.endswith(".json")} == tables.keys()
    assert not [name for name in tables if name.startswith("part_")]
    assert cliffs.lines(tmp_path, sizes) == found
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in tables} == tables
