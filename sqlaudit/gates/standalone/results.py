"""What a warehouse answered to the statements of a policy, as files have it: JSON, its lines, CSV, dbt's artefact."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.gates.standalone.dbt_results import answers_in, is_artefact
from sqlaudit.gates.standalone.returns import COUNTS, ROW_COLUMNS

MOST_BYTES = 64 * 1024 * 1024
_NOTHING = ("", "null", "\\n", "none", "nan")
_HUGE = 1.7976931348e308
"""Statements write the largest number for infinity."""
_VERDICTS = ("pass", "fail", "undecided")


@dataclass(frozen=True)
class WarehouseRow:
    """One row of an answer, read and not yet believed.

    Args:
        test_id: the name of its statement. classes … unusable: whole numbers, None = NULL. level: the main figure.
        verdict: pass, fail or undecided. wrong: what of it cannot be read, as a sentence goes on; empty = all can.
        ran: the text that was run for it, where the file says that.
    """

    test_id: str
    classes: int | None = None
    table_rows: int | None = None
    failing_classes: int | None = None
    failing_rows: int | None = None
    undecided_classes: int | None = None
    unusable: int | None = None
    level: float | int | None = None
    verdict: str = ""
    wrong: str = ""
    ran: str = ""


def read_results(path: Path) -> list[WarehouseRow]:
    """The rows in a file: a list of JSON objects (or one under `rows` or `data`), JSON lines, or CSV with a header.

    A run_results.json of dbt has them as the messages of models (`dbt_results.py`).

    Names of columns are read without regard to case, numbers may be texts.

    Raises:
        InputError: the file is not there, too large, or holds no such rows.
        UsageError: its ending says nothing that is known.
    """
    readers = {".json": _json_or_dbt, ".jsonl": _line_rows, ".ndjson": _line_rows, ".csv": _csv_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"Results are read from {', '.join(readers)}; {str(path)!r} ends in something else.")
    return list(reader(_text(path), str(path)))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{str(path)!r} has more than {MOST_BYTES >> 20} MB: results are a row for each statement."
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"The results {str(path)!r} cannot be read: {error.strerror or 'no reason given'}.") from None


def _json_or_dbt(text: str, name: str) -> list[WarehouseRow]:
    found = _parsed(text, name)
    if not is_artefact(found):
        return _json_rows(found, name)
    return [
        WarehouseRow(row["test_id"], wrong=wrong) if wrong else replace(read_row(row), ran=ran)
        for row, ran, wrong in answers_in(found, name)
    ]


def _json_rows(found: Any, name: str) -> list[WarehouseRow]:
    if isinstance(found, dict):
        listed = [value for key, value in found.items() if key.lower() in ("rows", "data") and isinstance(value, list)]
        found = listed[0] if len(listed) == 1 else [found]
    return [read_row(one) for one in _objects(found, name)]


def _line_rows(text: str, name: str) -> list[WarehouseRow]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    found = [_parsed(line, f"{name}, line {number}") for number, line in lines]
    return [read_row(one) for one in _objects(found, name)]


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except _TwiceError:
        raise InputError(f"{name}: an object has one key twice, so nobody knows which value is meant.") from None
    except (json.JSONDecodeError, RecursionError, ValueError):
        raise InputError(f"{name}: is not JSON.") from None


class _TwiceError(Exception):
    """One key stands twice in an object."""


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len({key.casefold() for key, _ in pairs}) < len(pairs):
        raise _TwiceError
    return dict(pairs)


def _objects(found: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a list; an answer in a list of its own, as clients give the rows of each statement, is taken, too."""
    for one in found if isinstance(found, list) else [found]:
        if isinstance(one, list):
            yield from _objects(one, name)
        elif isinstance(one, dict):
            yield one
        else:
            raise InputError(f"{name}: rows are objects with the columns {', '.join(ROW_COLUMNS)}.")


def _csv_rows(text: str, name: str) -> list[WarehouseRow]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text), strict=True) if line]
    except csv.Error:
        raise InputError(f"{name}: is not CSV.") from None
    if not lines:
        return []
    header = [cell.strip().lower() for cell in lines[0]]
    if len(set(header)) < len(header) or "test_id" not in header:
        raise InputError(f"{name}: its first line should name the columns {', '.join(ROW_COLUMNS)}, each once.")
    if any(len(line) != len(header) for line in lines):
        raise InputError(f"{name}: a line has more or fewer cells than the header.")
    return [read_row(dict(zip(header, line, strict=True))) for line in lines[1:]]


def read_row(found: Mapping[str, Any]) -> WarehouseRow:
    """The row of a statement from its cells by name; `wrong` says what of it cannot be read.

    Example:
        >>> read_row({"test_id": "a", "level": "2"}).wrong[:32]
        'lacks classes and table_rows and'
    """
    given = {key.lower(): value for key, value in found.items()}
    test_id = given.get("test_id")
    named = test_id.strip() if isinstance(test_id, str) else ""
    missing = [name for name in ROW_COLUMNS if name not in given]
    if missing:
        return WarehouseRow(named, wrong=f"lacks {' and '.join(missing)}")
    try:
        counts: dict[str, Any] = {name: _count(given[name], name) for name in COUNTS}
        level, verdict = _number(given["level"]), _verdict(given["verdict"])
    except _UnreadError as error:
        return WarehouseRow(named, wrong=str(error))
    return WarehouseRow(named, **counts, level=level, verdict=verdict)


class _UnreadError(Exception):
    """A cell that is no number or verdict; its sentence holds no value."""


def _verdict(value: object) -> str:
    verdict = value.strip() if isinstance(value, str) else ""
    if verdict not in _VERDICTS:
        raise _UnreadError(f"has another verdict than {', '.join(_VERDICTS)}")
    return verdict


def _count(value: object, name: str) -> int | None:
    number = _number(value)
    if number is None:
        return None
    if number < 0 or math.isinf(number) or number != int(number):
        raise _UnreadError(f"has no whole number in {name}")
    return int(number)


def _number(value: object) -> float | int | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _UnreadError("holds something else than numbers")
    try:
        number = int(value) if isinstance(value, str) and value.strip().isdecimal() else float(value)
    except (ValueError, OverflowError):
        raise _UnreadError("holds something else than numbers") from None
    if math.isnan(number):
        return None
    if abs(number) >= _HUGE:
        return math.inf
    return int(number) if number == int(number) else number


def by_test(rows: Iterable[WarehouseRow]) -> dict[str, list[WarehouseRow]]:
    """The rows by the names of their statements."""
    found: dict[str, list[WarehouseRow]] = {}
    for row in rows:
        found.setdefault(row.test_id, []).append(row)
    return found
