"""`sqlaudit cloak --delay`: a table of messages as they came, on every engine, and what does not go with it."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import sqlaudit
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.engines.contract import Engine
from sqlaudit.remedies.cloak import run as cloaking
from sqlaudit.remedies.cloak.result import CloakResult, Holding
from sqlaudit.remedies.cloak.stream import CloakStream
from tests.audit_values import values_query
from tests.cli.runner import run, write_csv
from tests.reports.schemas import validator

COLUMNS = {"who": "text", "x": "float", "y": "int", "t": "int", "held": "int", "text": "text"}
GIVEN: dict[str, Any] = {"user": "who", "x": "x", "y": "y", "time": "t", "k": 3, "box": "10m", "interval": "5s"}


def sent(number: int = 60) -> list[dict[str, Any]]:
    """Messages of six users in two cells, one every other second; three of them unusable."""
    rng = random.Random(5)
    made = [
        {
            "who": f"user {rng.randint(1, 6)}",
            "x": rng.choice([-0.5, 0.0, 9.5, 3.25]),
            "y": rng.randint(0, 9),
            "t": 2 * place,
            "held": rng.choice([None, 4]),
            "text": rng.choice(["hello", "so long"]),
        }
        for place in range(number)
    ]
    rng.shuffle(made)
    return [*made, {**made[0], "who": None}, {**made[0], "y": None}, {**made[0], "x": 1e13}]


def by_hand(rows: Sequence[dict[str, Any]], delay: int, *, own: bool) -> list[tuple[float, ...]]:
    """The boxes of all published messages."""
    broker, found = CloakStream(k=3, box=10, delay=delay, step=5), []
    usable = [row for row in rows if row["who"] and row["y"] is not None and row["x"] < 1e12]
    for row in sorted(usable, key=lambda row: row["t"]):
        held = min(delay, row["held"]) if own and row["held"] is not None else delay
        box = broker.send(row["who"], row["x"], row["y"], row["t"], row["text"], delay=held)
        if box is not None:
            bounds = (box.x_min, box.x_max, box.y_min, box.y_max, box.t_min, box.t_max)
            found += [(*map(float, bounds), text) for text in sorted(box.messages)]
    return found


def cloaked(engine: Engine, rows: Sequence[dict[str, Any]], **more: Any) -> CloakResult:
    return sqlaudit.cloak(query=values_query(rows, COLUMNS), db=engine, **{**GIVEN, "delay": "12s", **more})


@pytest.mark.parametrize("own", [False, True])
def test_messages_leave_as_a_broker_sends_them(engine: Engine, own: bool, tmp_path: Path) -> None:
    file, wanted = tmp_path / "out.csv", by_hand(sent(), 12, own=own)
    more = {"delay_column": "held"} if own else {"identifier": "held"}
    found = cloaked(engine, sent(), to=file, **more)
    with file.open(encoding="utf-8", newline="") as text:
        names, *lines = list(csv.reader(text))
    assert names == ["x_min", "x_max", "y_min", "y_max", "t_min", "t_max", "text"]
    assert [(*map(float, line[:6]), line[6]) for line in lines] == wanted
    assert 20 < len(wanted) < 60
    assert (found.rows, found.published, found.delay) == (63, len(wanted), 12)
    assert {outcome.reason: number for outcome, number in found.dropped.items()} == {
        "missing": 2,
        "no_place": 1,
        "too_few": 60 - len(wanted),
    }
    assert found.audit is not None
    assert (found.audit.messages, found.audit.failing_boxes, found.audit.fewest) == (len(wanted), 0, found.fewest_users)
    assert {float(level.side) for level in found.levels} == {10.0}
    assert max(level.seconds for level in found.levels) <= 12 + 2 * 5
    validator("cloak").validate(found.to_dict())


def test_bounds_of_timestamps_are_timestamps(tmp_path: Path) -> None:
    start = datetime(2026, 3, 2, 8)
    lines = [f"{row['who']},{row['x']},{row['y']},{start + timedelta(seconds=row['t'])},x" for row in sent()[:60]]
    table = write_csv(tmp_path / "m.csv", "who,x,y,t,text", *lines)
    ran = run(
        *("cloak", table, "--user", "who", "--x", "x", "--y", "y", "--time", "t", "--k", 3, "--box", "10m"),
        *("--interval", "5s", "--delay", "12s", "--to", tmp_path / "out.csv"),
    )
    wanted = by_hand(sent()[:60], 12, own=False)
    assert (ran.code, ran.err) == (0, f"sqlaudit: wrote {len(wanted)} messages to '{tmp_path / 'out.csv'}'.\n")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as text:
        times = [line["t_max"] for line in csv.DictReader(text)]
    assert times == [str(start + timedelta(seconds=line[5])) for line in wanted]
    assert "Delay at most 12 s" in ran.said
    assert "No two boxes overlap" not in ran.said
    assert "user 1" not in ran.out


def test_nothing_leaves_when_too_few_come(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "m.csv", "who,x,y,t", "a,1,1,0", "b,1,1,50")
    roles = ("--user", "who", "--x", "x", "--y", "y", "--time", "t", "--box", "10m", "--interval", "5s")
    ran = run("cloak", table, *roles, "--k", 2, "--delay", "49s", "--to", tmp_path / "out.csv")
    assert (ran.code, (tmp_path / "out.csv").read_text().count("\n")) == (1, 1)
    assert "no message can be published" in ran.said
    assert run("cloak", table, *roles, "--k", 2, "--delay", "50s").code == 0


REFUSED = [
    ({"suppress": "2%"}, "delay= and suppress exclude each other"),
    ({"smallest_box": 5}, "delay= and smallest_box exclude each other"),
    ({"k_column": "held"}, "delay= and k_column exclude each other"),
    ({"observations": "seen"}, "Audit the written file with observations"),
    ({"publish_sql": True}, "a SELECT cannot cloak messages"),
    ({"delay": None, "delay_column": "held"}, "delay_column= needs delay="),
]


@pytest.mark.parametrize(("more", "sentence"), REFUSED)
def test_what_takes_all_messages_at_once_is_refused(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        sqlaudit.cloak(query=values_query(sent(3), COLUMNS), **{**GIVEN, "delay": "12s", **more})


def test_a_broker_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cloaking, "count_box_users", lambda *asked: Holding(1, 60, 1, 1, 60))
    with pytest.raises(EngineError, match="The audit contradicts the cloaking, and nothing was published"):
        sqlaudit.cloak(query=values_query(sent(), COLUMNS), **GIVEN, delay="12s", to=tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
