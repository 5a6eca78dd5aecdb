"""Attempts: each takes what somebody wrote, does with it what the command line or the interface does, and checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click
import pyarrow as pa
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.spec import Limits
from sqlaudit.cli import cli
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.page import render_html
from sqlaudit.reports.text import render_text
from tests.security import hostile
from tests.security.readers import read_everywhere
from tests.security.world import MARK, SECRET, Ran, World

CODES = (
    "audit",
    "profile",
    "columns",
    "records",
    "persons",
    "aggregates",
    "disclosure",
    "lattice",
    "hierarchy",
    "compare",
    "attack",
    "releases",
    "compile",
    "models",
)
WRITES = frozenset(
    {
        "output_file",
        "output",
        "to",
        "buckets_to",
        "execute",
        "replace_view",
        "failing_classes_to",
        "certificate",
        "certificate_key",
        "new_key",
        "plot",
        "file",
        "help",
        "report",
        "show_values",
    }
)
"""Options that write a file or a view because somebody says so, or show values."""
_QUICK = Limits(timeout=5, threads=1, memory="500MB")


@dataclass(frozen=True)
class Attempt:
    """What is tried: a strategy for what somebody writes, and what is done with it."""

    name: str
    given: st.SearchStrategy[Any]
    act: Callable[[World, Any], None]


def expect_sentence(act: Callable[[], object]) -> object | None:
    """The result of an act of the Python interface, None when it was refused with an error of ours.

    Raises:
        AssertionError: an error that quotes a value, or that shows the exception that it came from.
    """
    try:
        return act()
    except SqlauditError as error:
        told = error
    assert str(told), type(told)
    assert told.__cause__ is None
    assert told.__suppress_context__ or told.__context__ is None, repr(told.__context__)
    assert SECRET not in str(told)
    return None


# --- the command line: every option of every command ---


def _parameters(name: str) -> Sequence[click.Parameter]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return [found for found in command.params if found.name not in WRITES]


_EXPRESSIONS = st.one_of(hostile.expressions(), hostile.texts)
_LISTS = st.one_of(
    st.lists(hostile.columns, min_size=1, max_size=3, unique=True).map(",".join), hostile.expressions(2), hostile.texts
)
_COUNTS = st.one_of(st.integers(-1, 8).map(str), hostile.texts)
_VALUES = {
    **dict.fromkeys(("qi", "sensitive", "columns", "key", "match", "exclude", "entity", "identifier"), _LISTS),
    **dict.fromkeys(("limit", "top", "noise_queries", "workload", "exact_rows", "pieces", "threads"), _COUNTS),
    "db": st.one_of(st.just("clinic.duckdb"), st.just("clinic.duckdb"), hostile.texts),
    "query": hostile.queries(),
    "require": hostile.limits(),
    "where": _EXPRESSIONS,
}


def _value(option: click.Option) -> st.SearchStrategy[str]:
    if isinstance(option.type, click.Choice):
        return st.sampled_from([str(choice) for choice in option.type.choices])
    files = st.sampled_from(hostile.SENTENCES)
    return _VALUES.get(option.name or "", st.one_of(hostile.numbers, hostile.texts, files))


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, ...]:
    """A command over the tables as it should be typed, with some more options, whose values may not fit."""
    name = draw(st.sampled_from(CODES))
    parameters = _parameters(name)
    options = [found for found in parameters if isinstance(found, click.Option)]
    usual = {"db": "clinic.duckdb", "qi": "age,sex", "sensitive": "disease", "require": "k=2", "widths": "5,10"}
    picked = draw(st.lists(st.sampled_from(options), max_size=3))
    line = [name, *(f"{o.opts[0]}={usual[o.name]}" for o in options if o.name in usual and o not in picked)]
    for option in dict.fromkeys(picked):
        line += [option.opts[0]] if option.is_flag else [f"{option.opts[0]}={draw(_value(option))}"]
    for parameter in parameters:
        if not isinstance(parameter, click.Option):
            usually = {"column": "age", "release": "released"}.get(parameter.name or "", "people")
            line.append(draw(st.one_of(st.just(usually), st.just(usually), hostile.texts)))
    return tuple("".join(sign for sign in word if _can_be_typed(sign)) for word in line)


def _can_be_typed(sign: str) -> bool:
    """Not so NUL, and lone surrogates but for those that stand for bytes which are no UTF-8."""
    return sign != "\x00" and ("\udc80" <= sign <= "\udcff" or not "\ud800" <= sign <= "\udfff")


def _command(world: World, line: tuple[str, ...]) -> None:
    world.run(*line)


# --- SQL of users, on every engine ---


@dataclass(frozen=True)
class Sql:
    """A condition, an expression as a quasi-identifier, and a query; empty = none."""

    where: str
    key: str
    query: str


sql = st.builds(
    Sql,
    st.one_of(st.just(""), hostile.expressions(), hostile.texts),
    st.one_of(hostile.columns, hostile.expressions(), hostile.texts),
    st.one_of(st.just(""), hostile.queries(), hostile.queries().flatmap(hostile.mutated)),
)


def _sql(world: World, given: Sql) -> None:
    for database in filter(None, (str(world.folder / "clinic.duckdb"), world.postgres)):
        target = None if given.query else "people"
        result = expect_sentence(
            lambda database=database, target=target: sqlaudit.audit(
                target,
                qi=[given.key],
                sensitive="disease",
                query=given.query,
                where=given.where,
                db=database,
                worst_classes=0,
                limits=_QUICK,
            )
        )
        _check_result(result, "\n".join((given.where, given.key, given.query)))
    world.check_unchanged()


def _check_result(result: object | None, given: str) -> None:
    """No statement and no part of a result holds a value that its reader has not written.

    Raises:
        AssertionError: one does.
    """
    if result is None:
        return
    shown = json.dumps(result.to_dict(), default=str)  # type: ignore[attr-defined]
    assert MARK in given or MARK not in shown, shown


# --- files: policies, hierarchies, inputs, knowledge, tables, stored results ---


def _file(name: str, *line: str) -> Callable[[World, bytes], None]:
    def act(world: World, content: bytes) -> None:
        path = world.folder / name
        before = path.read_bytes() if path.exists() else None
        path.write_bytes(content)
        try:
            ran = world.run_unchecked(*line)
        finally:
            path.unlink() if before is None else path.write_bytes(before)
        text = content.decode("utf-8", "replace")
        world.check(Ran((*ran.arguments, text), ran.code, ran.out, ran.err))

    return act


_LATTICE = (
    "lattice",
    "--db",
    "clinic.duckdb",
    "people",
    "--qi",
    "age,zip,born",
    "--sensitive",
    "disease",
    "--require",
    "k=2",
)
_AUDIT = (
    "audit",
    "--db",
    "clinic.duckdb",
    "people",
    "--qi",
    "age,sex",
    "--sensitive",
    "disease",
    "--worst-classes",
    "0",
)


# --- cells of a release ---


@dataclass(frozen=True)
class Cells:
    """Cells of a release for the three kinds of columns, and how they became coarser."""

    ages: tuple[str, ...]
    towns: tuple[str, ...]
    days: tuple[str, ...]
    hierarchies: dict[str, Any] | None


_three = st.lists(hostile.cells, min_size=3, max_size=3).map(tuple)
cells = st.builds(Cells, _three, _three, _three, st.one_of(st.none(), st.just({"age": {"widths": [10, 20]}})))


def _cells(world: World, given: Cells) -> None:
    import datetime

    original = pa.table(
        {
            "key": [1, 2, 3],
            "age": [20, 27, 34],
            "town": ["Zq7a", "Zq7b", None],
            "s": ["Zq7x", "Zq7y", "Zq7x"],
            "day": [datetime.date(2024, 2, 29), datetime.date(1980, 1, 1), None],
        }
    )
    columns = {"age": given.ages, "town": given.towns, "day": given.days}
    try:
        release = pa.table(
            {"key": [1, 2, 3], **{name: list(found) for name, found in columns.items()}, "s": ["Zq7x", "Zq7y", "Zq7x"]}
        )
    except UnicodeEncodeError:  # a lone surrogate, which no table can hold
        return
    written = "\n".join((*given.ages, *given.towns, *given.days))
    qi = ["age", "town", "day"]
    _check_result(
        expect_sentence(
            lambda: sqlaudit.compare(
                original,
                release,
                qi=qi,
                sensitive="s",
                key="key",
                hierarchies=given.hierarchies,
                workload=5,
                noise_queries=5,
            )
        ),
        written,
    )
    _check_result(
        expect_sentence(
            lambda: sqlaudit.attack(
                release, qi=qi, sensitive="s", identified=original, hierarchies=given.hierarchies, require=["k=1"]
            )
        ),
        written,
    )
    world.check_unchanged()


# --- the console ---


def _console(world: World, script: str) -> None:
    database = ["--db", "clinic.duckdb"] if len(script) % 2 else []
    ran = world.run_unchecked(
        "console", *database, "--timeout=5s", "people" if database else "people.csv", "-c", script.replace("\x00", "")
    )
    world.remove_new()
    # a SELECT shows values, since that is what it is for
    world.check(Ran((*ran.arguments, MARK, SECRET), ran.code, ran.out, ran.err))


# --- tables whose names and values mean harm ---

names = st.text(min_size=1, max_size=10) | st.sampled_from([text for text in hostile.FRAGMENTS if "\x00" not in text])


@dataclass(frozen=True)
class Table:
    """Two columns with odd names, and their values."""

    names: tuple[str, str]
    rows: tuple[tuple[str | None, str | None], ...]


_value_or_none = st.one_of(st.none(), names)
tables = st.builds(
    Table,
    st.lists(names, min_size=2, max_size=2, unique_by=str.casefold).map(tuple),
    st.lists(st.tuples(_value_or_none, _value_or_none), min_size=1, max_size=5).map(tuple),
)


def _table(world: World, given: Table) -> None:
    from sqlaudit.reports.notebook import document_of

    first, second = given.names
    marked = [[value and MARK + value for value in column] for column in zip(*given.rows, strict=True)]
    try:
        frame = pa.table({first: pa.array(marked[0], pa.string()), second: pa.array(marked[1], pa.string())})
    except UnicodeEncodeError:
        return
    quoted = '"' + first.replace('"', '""') + '"'
    audited = expect_sentence(
        lambda: sqlaudit.audit(frame, qi=[quoted], sensitive=second, require=["k=2", "l=2", "t=0.5"])
    )
    profiled = expect_sentence(lambda: sqlaudit.profile(frame))
    for result in (audited, profiled):
        if result is not None:
            _check_pages(document_of(result))
            _check_result(result, first + second)


def _check_pages(document: Any) -> None:
    page = render_html(document)
    for sign in ("<script>alert", "<img src=x", "{{ 7 * 7 }}49"):
        assert sign not in page, sign
    for text in (page, render_markdown(document), render_text(document)):
        assert not [sign for sign in (MARK, "\x1b", "\u202e") if sign in text]


# --- every reader of texts, without a table ---

readable = st.one_of(
    hostile.texts,
    hostile.expressions(),
    hostile.queries(),
    hostile.queries().flatmap(hostile.mutated),
    hostile.cells,
    hostile.limits(),
    hostile.scripts,
    hostile.numbers,
)


# --- all of them ---


def _stored_result() -> dict[str, Any]:
    from sqlaudit.reports.notebook import document_of
    from sqlaudit.reports.stored import to_json as stored_document

    people = pa.table({"age": [20, 20, 34], "s": ["a", "b", "a"]})
    result = sqlaudit.audit(people, qi=["age"], sensitive="s", require=["k=2"])
    return {**result.to_dict(), "report": stored_document(document_of(result))}


def attempts() -> tuple[Attempt, ...]:
    """Everything that is tried."""
    return (
        Attempt("command line", command_lines(), _command),
        Attempt("sql", sql, _sql),
        Attempt("policy", hostile.policy_files, _file("sqlaudit.yml", "test", "--timeout=5s")),
        Attempt(
            "hierarchies",
            hostile.hierarchy_files,
            _file("hierarchies.yml", *_LATTICE, "--hierarchies", "hierarchies.yml"),
        ),
        Attempt(
            "hierarchy table",
            hostile.hierarchy_tables,
            _file("given.csv", "hierarchy", "--db", "clinic.duckdb", "people", "age", "--from", "given.csv"),
        ),
        Attempt(
            "inputs",
            hostile.input_files,
            _file("inputs.yml", *_AUDIT, "--inputs", "inputs.yml", *(f"--require={limit}" for limit in _WITH_INPUTS)),
        ),
        Attempt(
            "knowledge",
            hostile.knowledge_files,
            _file("knowledge.yml", "disclosure", *_AUDIT[1:-2], "--given", "knowledge.yml"),
        ),
        Attempt("csv", hostile.csv_files, _file("given.csv", "profile", "given.csv")),
        Attempt(
            "stored result",
            st.deferred(lambda: hostile.json_files(_stored_result())),
            _file("given.json", "report", "given.json", "--format=markdown"),
        ),
        Attempt("cells", cells, _cells),
        Attempt("console", hostile.scripts, _console),
        Attempt("tables", tables, _table),
        Attempt("readers", readable, lambda _, text: read_everywhere(text)),
    )


_WITH_INPUTS = ("k=2", "l=2")
