"""`sqlaudit cloak` as strangers use it: what it says, refuses and writes, and that it names no one."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import Target
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.remedies.cloak import run as cloaking
from sqlaudit.remedies.cloak.request import metres, seconds
from sqlaudit.remedies.cloak.result import area, duration, length
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.postgres_load import Loader
from tests.reports.schemas import validator

NEEDLE = "Zaphod Beeblebrox"
COMMON = ("--user", "who", "--x", "x", "--y", "y", "--time", "sent")
SIZES = ("--box", "1km", "--interval", "10min")


def rows(number: int = 60) -> list[dict[str, Any]]:
    """Messages of seven users in a few square kilometres and half an hour, two of them unusable."""
    rng = random.Random(8)
    made = [
        {
            "who": f"{NEEDLE} {rng.randint(1, 7)}",
            "x": rng.randint(-900, 900),
            "y": rng.randint(0, 900),
            "sent": f"2026-03-02 08:{rng.randint(10, 39)}:00",
            "text": rng.choice(["hello", "so long"]),
            "asks": rng.choice([None, 3]),
        }
        for _ in range(number)
    ]
    return [*made, {**made[0], "who": None}, {**made[0], "x": 5_000_000}]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with messages, properties and observations."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(rows()).astype({"asks": "Int64"}).to_csv("m.csv", index=False)
    write_csv(tmp_path / "flats.csv", "x_min,x_max,y_min,y_max,owner", f"-1000,0,0,1000,{NEEDLE}", "0,10,0,10,Trillian")
    write_csv(tmp_path / "seen.csv", "who,x,y,sent", f"{NEEDLE} 1,-500,10,2026-03-02 08:15:00")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_messages_are_cloaked_audited_and_attacked() -> None:
    ran = run(
        "cloak",
        "m.csv",
        *COMMON,
        *SIZES,
        "--k",
        3,
        "--properties",
        "flats.csv",
        "--observations",
        "seen.csv",
        "--to",
        "out.csv",
    )
    assert (ran.code, ran.err) == (0, "sqlaudit: wrote 60 messages to 'out.csv'.\n")
    assert "m.csv: 62 messages in 6 boxes. Messages published 60 (96.8%)" in ran.said
    assert "PASS: every published box has at least 3 different users" in ran.said
    assert "No two boxes overlap." in ran.said
    assert "2 messages (3.2%) were dropped." in ran.said
    assert "user, place or time is missing 1 1.6%" in ran.said
    assert "too few users in any box within its limits 1 1.6%" in ran.said
    assert "Published unchanged and not protected by cloaking: text and asks." in ran.said
    assert "Restricted space identification:" in ran.said
    assert "within the property of a single owner" in ran.said
    assert "Observation identification: 1 of" in ran.said
    assert NEEDLE not in ran.out + ran.err
    with Path("out.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["x_min", "x_max", "y_min", "y_max", "t_min", "t_max", "text", "asks"]
    assert len(lines) == 60
    keys = [tuple(float(line[name]) for name in list(line)[:4]) for line in lines]
    assert keys == sorted(keys)
    assert NEEDLE not in Path("out.csv").read_text()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("layout", ["text", "markdown", "html"])
def test_every_layout_says_it(layout: str) -> None:
    ran = run(
        "cloak",
        "m.csv",
        *COMMON,
        *SIZES,
        "--k",
        3,
        "--suppress",
        "5%",
        "--k-column",
        "asks",
        "--format",
        layout,
        "--publish-sql",
        "--divide",
        "time-first",
    )
    assert ran.code == 0
    for said in (
        "62 messages in 11 boxes",
        "Messages that require more users are in boxes with as many.",
        "in time, then in space",
        "at most 0.05 of publishable messages",
        "could_be",
    ):
        assert said in " ".join(ran.out.split())
    assert NEEDLE not in ran.out


@pytest.mark.usefixtures("folder")
def test_json_is_documented_and_complete() -> None:
    ran = run(
        "cloak", "m.csv", *COMMON, *SIZES, "--k", 3, "--format", "json", "--publish-sql", "--properties", "flats.csv"
    )
    found = json.loads(ran.out)
    validator("cloak").validate(found)
    assert (found["rows"], found["published"]) == (62, 60)
    assert found["dropped"] == {"missing": 1, "no_place": 0, "no_tolerance": 0, "too_few": 1, "given_up": 0}
    assert sum(level["messages"] for level in found["levels"]) == 60
    assert sum(level["boxes"] for level in found["levels"]) == found["boxes"] == found["audit"]["boxes"]
    assert found["fewest_users"] == found["audit"]["fewest_users"] >= 3
    assert found["levels"][0] == {**found["levels"][0], "side": 1000, "seconds": 600}
    assert found["levels"][-1] == {**found["levels"][-1], "side": 62.5, "seconds": 37.5}
    assert found["attacks"]["restricted_space_identification"]["exposed"] > 0
    assert NEEDLE not in ran.out
    ran = run("cloak", "m.csv", *COMMON, *SIZES, "--k", 8, "--format", "json")
    found = json.loads(ran.out)
    validator("cloak").validate(found)
    assert (ran.code, found["published"], found["audit"], found["areas"]) == (1, 0, None, None)
    assert found["dropped"]["too_few"] == 61


@pytest.mark.usefixtures("folder")
def test_boxes_of_others_are_audited() -> None:
    run("cloak", "m.csv", *COMMON, *SIZES, "--k", 3, "--to", "out.parquet")
    audit = ("cloak", "out.parquet", "--audit-only", "--positions", "m.csv", *COMMON, "--properties", "flats.csv")
    ran = run(*audit, "--k", 3)
    assert ran.code == 0
    assert "passes Users present 3 at least 3" in ran.said
    assert "The messages have no column of users" in ran.said
    assert "1 position without user, place or time was left out" in ran.said
    ran = run(*audit, "--k", 8, "--format", "json")
    found = json.loads(ran.out)
    validator("cloak").validate(found)
    assert (ran.code, found["classes"], found["presence"]["passed"]) == (1, None, False)
    assert found["presence"]["failing_messages"] == found["presence"]["messages"] == 60
    write_csv(Path("b.csv"), "user,a,b,c,d,e,f", *["u,0,1,0,1,0,9", "v,0,1,0,1,0,9", "w,5,6,0,1,0,9"])
    ran = run("cloak", "b.csv", "--audit-only", "--k", 2, "--bounds", "a,b,c,d,e,f")
    assert ran.code == 1
    assert "FAILS Users in a box 1 at least 2 1 box (1 message)" in ran.said


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (COMMON, "--box limits the size of a box"),
        ((*COMMON, "--box", "1 mile", "--interval", "1h"), "--box takes a length, for example 500m or 1km"),
        ((*COMMON, "--box", "0.3m", "--interval", "1h"), "--box must be a multiple of an eighth of a metre"),
        ((*COMMON, "--box", "1km", "--interval", "10m"), "--interval takes a duration, for example 30s, 10min or 1h"),
        ((*COMMON, "--box", "0", "--interval", "1h"), "--box must be above 0"),
        ((*COMMON, *SIZES, "--smallest-box", "2km"), "--smallest-box is larger than --box"),
        ((*COMMON, *SIZES, "--k", 0), "--k must be at least 1"),
        (
            (*COMMON, *SIZES, "--suppress", "0.1234567"),
            "--suppress must be a share from 0 to 1, with at most six decimals",
        ),
        ((*COMMON[2:], *SIZES), "--user is missing"),
        ((*COMMON[:6], "--time", "text", *SIZES), "--time: text is text, not integer or decimal or float or date"),
        ((*COMMON, *SIZES, "--k-column", "text"), "--k-column: text is text, not integer"),
        ((*COMMON, *SIZES, "--bounds", "a,b,c,d,e,f"), "--bounds needs --audit-only"),
        ((*COMMON, *SIZES, "--owner", "x"), "--property-bounds and --owner need --properties"),
        ((*COMMON, *SIZES, "--to", "out.txt"), "must end in .csv, .parquet, .xlsx, .sav, .dta or .sql"),
        ((*COMMON, *SIZES, "--lonlat", "--box", "2000km"), "--lonlat needs a --box of at most 1000km"),
        (("--audit-only", "--to", "x.csv"), "--to and --audit-only exclude each other"),
        (("--audit-only", "--suppress", "1%"), "--suppress and --audit-only exclude each other"),
        (("--audit-only", "--divide", "time-first"), "--divide and --audit-only exclude each other"),
        (("--audit-only", "--x", "x"), "--x needs --positions or --observations"),
        (("--audit-only", "--bounds", "a,b"), "--bounds takes six columns"),
        (("--audit-only",), "has no column 'x_min'"),
    ],
)
def test_what_is_refused(options: tuple[object, ...], said: str) -> None:
    ran = run("cloak", "m.csv", *options)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


@pytest.mark.usefixtures("folder")
def test_a_plan_is_shown_without_cloaking() -> None:
    ran = run("cloak", "m.csv", *COMMON, *SIZES, "--dry-run")
    assert ran.code == 0
    assert "is_new_user" in ran.out
    ran = run("cloak", "flats.csv", "--audit-only", "--bounds", "x_min,x_max,y_min,y_max,x_min,x_max", "--dry-run")
    assert "unboxed" in ran.out


COLUMNS = {"who": "text", "x": "int", "y": "int", "sent": "text", "text": "text", "asks": "int"}
RESULTS: dict[str, Any] = {}


def test_engines_publish_the_same_file_and_the_same_select(engine: Engine, tmp_path: Path) -> None:
    target = Target(query=values_query(rows(), COLUMNS), label="messages")
    common: dict[str, Any] = {
        "user": "who",
        "x": "x",
        "y": "y",
        "time": "CAST(sent AS TIMESTAMP)",
        "k": 3,
        "db": engine,
    }
    found = sqlaudit.cloak(
        target,
        **common,
        box="1km",
        interval="10min",
        k_column="asks",
        to=tmp_path / "m.csv",
        publish_sql=True,
        identifier=["text"],
    )
    written = (tmp_path / "m.csv").read_text()
    assert written.count("\n") == found.published + 1
    assert found.columns == ()
    told = (written, found.published, dict(found.dropped), found.levels, found.audit)
    assert told == RESULTS.setdefault("told", told)
    selected = engine.run(Statement("published", found.sql))
    lines = [line.split(",") for line in written.splitlines()[1:]]
    assert [[str(value) for value in row] for row in selected] == lines
    assert NEEDLE not in repr(found) + json.dumps({**found.to_dict(), "sql": ""})  # the query's own text is in the SQL


def test_postgres_tables_and_errors_name_nobody(load: Loader, postgres_url: str) -> None:
    load("sent_messages", rows(), types={"who": "text", "asks": "bigint"})
    with connect(postgres_url) as engine:
        common: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "CAST(sent AS timestamp)", "db": engine}
        found = sqlaudit.cloak("sent_messages", **common, k=3, box=1000, interval=600)
        assert found.published == 60
        assert NEEDLE not in repr(found) + json.dumps(found.to_dict())
        assert NEEDLE not in "".join(timing.sql for timing in found.statements)
        with pytest.raises(EngineError) as error:
            sqlaudit.cloak("sent_messages", **{**common, "time": "CAST(who AS timestamp)"}, k=3, box=1000, interval=600)
        assert NEEDLE not in str(error.value)
        with pytest.raises(UsageError, match="has no column 'nobody'"):
            sqlaudit.cloak("sent_messages", **{**common, "user": "nobody"}, k=3, box=1000, interval=600)


def test_a_frame_is_cloaked_and_shows_itself_in_notebooks() -> None:
    frame = pd.DataFrame(rows()).assign(sent=lambda all_rows: pd.to_datetime(all_rows["sent"]))
    common: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "sent", "k": 3}
    found = sqlaudit.cloak(frame, **common, box="1km", interval="10min")
    assert (found.published, found.passed) == (60, True)
    assert "iframe" in found._repr_html_()
    assert (
        "iframe" in sqlaudit.audit_boxes(frame.assign(t=1.0), k=1, bounds=["x", "x", "y", "y", "t", "t"])._repr_html_()
    )
    with pytest.raises(UsageError, match="frame"):
        sqlaudit.cloak(frame, **common, box="1km", interval="10min", publish_sql=True)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_a_frame_have_any_unit(unit: str) -> None:
    """Those of pandas 2 are nanoseconds. One minute apart, two by two in boxes of two minutes, as in the SELECT."""
    times = pd.date_range("2024-01-01", periods=8, freq="min").astype(f"datetime64[{unit}]")
    moved = pd.DataFrame({"who": range(8), "x": 0.0, "y": 0.0, "at": times})
    named: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "at"}
    found = sqlaudit.cloak(moved, **named, k=2, box=1, interval=120)
    assert (found.passed, found.boxes, dict(found.dropped)) == (True, 4, {})
    space = {"x_min": [-1.0], "x_max": 1.0, "y_min": -1.0, "y_max": 1.0}
    boxes = pd.DataFrame({**space, "t_min": times[:1], "t_max": times[7:] + pd.Timedelta("1s")})
    assert sqlaudit.audit_boxes(boxes, k=8, positions=moved, **named).passed


def test_a_bound_that_the_table_has_already_is_refused() -> None:
    frame = pd.DataFrame({"who": ["a"], "x": [1], "y": [1], "t": [1], "X_Min": [1]})
    common: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "t", "k": 1, "box": 8, "interval": 8}
    with pytest.raises(UsageError, match="Leave it out with identifier=\\['X_Min'\\]"):
        sqlaudit.cloak(frame, **common)
    assert sqlaudit.cloak(frame, **common, identifier=["X_Min"]).published == 1
    assert sqlaudit.cloak(frame.head(0), **common, identifier=["X_Min"]).passed


def test_an_audit_that_disagrees_ends_it_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone makes the audit's table smaller: nothing is written."""
    frame = pd.DataFrame({"who": list("ab"), "x": 1, "y": 1, "t": 1})
    true_render = cloaking.render

    def thinner(template: str, dialect: str, **more: Any) -> Any:
        made = true_render(template, dialect, **more)
        return type(made)(made.name, made.sql + "\nLIMIT 1") if template == "remedies/cloak/cloak_audited.sql" else made

    monkeypatch.setattr(cloaking, "render", thinner)
    with pytest.raises(EngineError, match="The audit contradicts the cloaking, and nothing was published"):
        sqlaudit.cloak(frame, user="who", x="x", y="y", time="t", k=2, box=8, interval=8, to=tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_the_select_runs_by_itself(folder: Path) -> None:
    ran = run("cloak", "m.csv", *COMMON, *SIZES, "--k", 3, "--to", "out.sql")
    assert ran.err == "sqlaudit: wrote the SELECT of the cloaked messages to 'out.sql'.\n"
    with duckdb.connect() as connection:
        selected = connection.execute(Path("out.sql").read_text()).fetchall()
    assert len(selected) == 60


def test_sizes_are_read_and_said_exactly() -> None:
    assert [float(metres(text)) for text in ("1km", "0.5 km", "12.5", "250m", "1000000")] == [1000, 500, 12.5, 250, 1e6]
    assert [float(seconds(text)) for text in ("30s", "10min", "1.5h", "2d", "0.125")] == [30, 600, 5400, 172800, 0.125]
    assert (metres(0.5), metres(3)) == (0.5, 3)
    assert [duration(n) for n in (0.5, 37.5, 60, 90, 225, 5400, 86400)] == [
        "0.5 s",
        "37.5 s",
        "1 min",
        "1.5 min",
        "3.75 min",
        "1.5 h",
        "1 d",
    ]
    assert (length(62.5), length(1500), area(4096), area(250_000)) == ("62.5 m", "1.5 km", "4,096 m²", "0.25 km²")
    for wrong in ("", "km", "1e999", "-5", "nan", "1/0", 0, 2**40):
        with pytest.raises(UsageError):
            metres(wrong)


def test_an_audit_of_boxes_reads_which_users_are_one(tmp_path: Path) -> None:
    boxes = tmp_path / "boxes.csv"
    bounds = "0,9,0,9,0,60"
    boxes.write_text(
        f"user,x_min,x_max,y_min,y_max,t_min,t_max\nAnn,{bounds}\nann,{bounds}\nbob,{bounds}\n", encoding="utf-8"
    )
    command = ("cloak", str(boxes), "--audit-only", "--k", "3")
    assert "--fold-values" in run(*command).err
    assert [run(*command, option).code for option in ("--fold-values", "--exact-values")] == [1, 0]
