"""The requests about a policy: its tests, and the state of them that is accepted."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    DATABASE,
    FILE,
    FLAG,
    RANGE,
    TEXT,
    Option,
    OptionKind,
    made,
    nested,
    option,
    options_of,
    part,
    request_from,
)
from sqlaudit.base.spec import CLASSES, HOLD, LIMITS, Limits

DEFAULT_POLICY = "sqlaudit.yml"
DEFAULT_BASELINE = Path("sqlaudit-baseline.yml")
_POLICY, _BASELINE = "Policy", "Baseline"
"""Sections of the help page."""

_LOCATION = OptionKind("file", lambda _, value: value, python="str | Path")
"""A file or folder whose name stays as it was written, since places in a policy are told by it."""
_SELECTIONS = OptionKind("repeated", lambda _, value: value, python="Sequence[str]")
"""Selections of tests, which have commas of their own."""
FILES = OptionKind("files", lambda _, value: value, python="Sequence[str | Path]")
_DAY = OptionKind("day", lambda _, value: value, python="date")
_LIMITS = OptionKind("limits", lambda _, value: value, python="Limits | Mapping[str, Any]")


def _limits_part() -> Any:
    """Return the field of the limits; the command line has options for each of them, and puts them into the request."""
    declared = Option("limits", _LIMITS, "Time, memory and threads.", LIMITS, only_python=True)
    return part(lambda given, name: made(Limits, given.get(name), name), lambda: (declared,), default=Limits())


@dataclass(frozen=True)
class PolicySource:
    """A policy, and which of its tests are asked for.

    Args:
        policy: the file.
        dbt_project: the folder of a dbt project instead.
        dbt_target: of its profile, empty = dbt's choice.
        select: which tests, as in dbt; empty = all.
    """

    policy: str | Path = option(
        DEFAULT_POLICY,
        _LOCATION,
        "Policy file. Default: sqlaudit.yml, here or in a folder above.",
        _POLICY,
        flags=("-f", "--file"),
        metavar="POLICY",
        positional=True,
    )
    dbt_project: str | Path | None = option(
        None, _LOCATION, "Read roles and requirements from the meta of dbt models.", _POLICY, metavar="FOLDER"
    )
    dbt_target: str = option(
        "", TEXT, "Target of the dbt profile. Default: the target of the profile.", _POLICY, metavar="NAME"
    )
    select: Sequence[str] = option(
        (),
        _SELECTIONS,
        "Tests to run, as in dbt: tag:release,patients+ (comma: both; space or second --select: either).",
        _POLICY,
        metavar="TESTS",
    )


def policy_part(section: str, **help_texts: str) -> Any:
    """Return the field of a policy.

    Args:
        section: of the help page.
        help_texts: help texts by option, where they differ from those of a run.
    """

    def options() -> Iterator[Option]:
        for _, declared in options_of(PolicySource):
            yield replace(declared, section=section, help=help_texts.get(declared.name, declared.help))

    return part(lambda given, _: request_from(PolicySource, given), options, default_factory=PolicySource)


@dataclass(frozen=True)
class GateRequest:
    """A request for a run of a policy.

    Args:
        source: the policy, and which of its tests run.
        fail_fast: whether the run ends after the first table with a failing test.
        list_only: whether the tests are listed, and nothing runs.
        results: files with what a warehouse answered to compiled statements; with these nothing is connected.
        db: a database behind an ADBC driver that is asked by compiled statements.
        dialect: what it speaks, empty = what its driver says.
        run: the text that tells the answers of this run from others.
        baseline: the file with the accepted state.
        accept: whether what is found is accepted, into that file.
        history: the file that the run is added to.
        store_failures: the DuckDB file for failing classes.
        show_values: whether that file may have their keys.
        limits: the budgets of the run.
        today: the day that exceptions are compared with; None = today, in UTC.
    """

    source: PolicySource = nested(PolicySource)
    fail_fast: bool = option(False, FLAG, "Stop after the first table with a failing test.", _POLICY)
    list_only: bool = option(
        False,
        FLAG,
        "Read the policy and list its tests without connecting.",
        _POLICY,
        flags=("--list",),
        only_command_line=True,
    )
    results: Sequence[str | Path] = option(
        (),
        FILES,
        "Judge a warehouse's results of the statements of 'compile -f', without connecting (.json, .jsonl, .csv; "
        "dbt's run_results.json).",
        _POLICY,
        metavar="FILE",
    )
    db: str = option(
        "",
        DATABASE,
        "Run compiled SELECTs in one database over ADBC, instead of the policy's connections: "
        "adbc:sqlite:///clinic.db, adbc:postgresql://host/db, adbc:flightsql:grpc://host:port.",
        _POLICY,
        metavar="DATABASE",
    )
    dialect: str = option(
        "", TEXT, "With --db: SQL dialect, if the driver does not determine it.", _POLICY, metavar="NAME"
    )
    run: str = option(
        "", TEXT, "With --results: use only answers to statements compiled for this --run.", _POLICY, metavar="NAME"
    )
    baseline: Path | None = option(
        None, FILE, "Fail only on tests that got worse than this baseline.", HOLD, metavar="FILE", writes=True
    )
    accept: bool = option(False, FLAG, "Accept what is found, into the baseline.", HOLD, only_python=True)
    history: Path | None = option(None, FILE, "Add the run to this .jsonl file.", HOLD, metavar="FILE", writes=True)
    store_failures: Path | None = option(
        None,
        FILE,
        "Write failing classes to a .duckdb file, without their values.",
        CLASSES,
        metavar="FILE",
        writes=True,
    )
    show_values: bool = option(False, FLAG, "Include values, which may identify people.", CLASSES)
    limits: Limits = _limits_part()
    today: datetime.date | None = option(None, _DAY, "The day of the run.", _POLICY, only_python=True)


@dataclass(frozen=True)
class BaselineRequest:
    """A request to accept the state of a policy's tables, or to show its history.

    Args:
        source: the policy, and which of its tests run.
        baseline: the file for the accepted state.
        history: the file with the runs to show; None = run and accept.
        runs: the number of runs to show.
    """

    source: PolicySource = nested(PolicySource)
    baseline: Path = option(
        DEFAULT_BASELINE,
        FILE,
        "File with the accepted state. A .duckdb file of an older version is converted.",
        _BASELINE,
        metavar="FILE",
        shown=str(DEFAULT_BASELINE),
        writes=True,
    )
    history: Path | None = option(
        None, FILE, "Show the runs in this file; run and accept nothing.", _BASELINE, metavar="FILE", writes=True
    )
    runs: int = option(10, RANGE, "Number of runs to show.", _BASELINE, metavar="N", shown="10", least=1, most=1000)
