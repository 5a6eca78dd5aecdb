"""Which tests run on Spark when no one asks for all cases, and what of the templates they execute there.

A test on Spark takes seconds. By default run those that are marked `spark`, which are of its own engine and about what
it alone does, and those that `spark_choice.txt` names: chosen so that they execute each template with each of its
options and with lists that are empty and not, and see each kind of value that tables of a room have, in few statements.
`--cases all` runs every test that runs on engines.

A window without PARTITION BY is one task of a cluster. A run fails that executes one on Spark, except for those of
`IN_ONE_TASK`.

At its end a whole run says which templates none of its tests executed on Spark. These should be those of other engines,
of the workbench beside it and of large tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sqlaudit.base import spelling, sql
from tests.places import REPOSITORY

LISTED = Path(__file__).with_name("spark_choice.txt")


def listed() -> tuple[str, ...]:
    """The names of the chosen tests, with the case where not every case of a test is chosen."""
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def chosen(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of the tests that run on Spark, those that it runs by default; of the others all.

    Raises:
        pytest.UsageError: the list names a test that is not there, of a module that is.
    """
    names = set(listed())
    found = {name for item in items for name in _names(item)}
    modules = {item.nodeid.partition("::")[0] for item in items}
    if lost := sorted(name for name in names - found if name.partition("::")[0] in modules and not _narrowed(items)):
        raise pytest.UsageError(f"{LISTED.name} names tests that are not there: " + ", ".join(lost))
    return [item for item in items if not _on_spark(item) or _its_own(item) or names & _names(item)]


def _names(item: pytest.Item) -> set[str]:
    return {item.nodeid, item.nodeid.partition("[")[0]}


def _its_own(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None


def _on_spark(item: pytest.Item) -> bool:
    called = getattr(item, "callspec", None)
    return _its_own(item) or (called is not None and called.params.get("engine_name") == "spark")


def _narrowed(items: Sequence[pytest.Item]) -> bool:
    """Whether single tests of a module were asked for, and others of it are not here."""
    return bool(items) and any("::" in str(argument) for argument in items[0].config.args)


_ONE_TASK = re.compile(
    r"OVER \((?!\s*PARTITION BY)(?!ORDER BY place NULLS LAST\) - size)[^)]*\)?|WINDOW \w+ AS \((?!PARTITION)"
)
"""A window without PARTITION BY; not that over the ranges of values, of which there are at most 128."""
_OF_VALUES = (
    "OVER (ORDER BY s NULLS LAST)",
    "OVER (ORDER BY rank NULLS LAST)",
    "OVER (ORDER BY u.x",
    "WINDOW walk AS (",
)
"""Windows of many templates over the values of a sensitive attribute: lanes, ranks, the counts of a class."""
_OF_DIMENSION = "different values of a dimension of a table of cells"
_OF_COLUMN = "different values of one column, which the workbench gets"
_FEW = "rows of a table of at most 100,000"
_COMPILED = "one SELECT for any warehouse, which no command runs"
_GROWS = "grows with the table: "
IN_ONE_TASK = {
    "audits/bucket_persons.sql": _GROWS + "the rows of a release in buckets, written in their order",
    "audits/bucket_values.sql": _GROWS + "the rows of a release in buckets, written in their order",
    "audits/disclosure/grown.sql": "classes that further rows get into",
    "audits/given.sql": _GROWS + "a release that is kept, as bucket_persons.sql and publish_release.sql number it",
    "audits/worst_classes.sql": "classes of equal size and distribution",
    "classes/classes_wildcard.sql": _GROWS + "patterns with NULLs, each of which is compared with each other",
    "classes/wildcard_coded.sql": _GROWS + "patterns with NULLs, each of which is compared with each other",
    "classes/failing_classes.sql": "classes of equal size and figures",
    "column_sets/columns_codes.sql": _FEW,
    "column_sets/columns_count_sets.sql": "ten bands of a column, which a search on Spark leaves out",
    "column_sets/records/records_risk.sql": "classes of equal risk",
    "events/events_spans.sql": "different values of a column with a tolerance, in their order",
    "events/events_values_at.sql": "different values of a column with a tolerance, in their order",
    "gates/standalone/standalone.sql": _COMPILED,
    "gates/standalone/standalone_cells.sql": _COMPILED,
    "gates/standalone/standalone_persons.sql": _COMPILED,
    "hierarchies/hierarchy_values.sql": _OF_COLUMN,
    "lattices/lattice_cells.sql": _OF_COLUMN,
    "lattices/lattice_coded.sql": _OF_COLUMN,
    "lattices/publish_release.sql": _GROWS + "rows of a release whose failing classes are numbered",
    "population/cells.sql": "cells of a log-linear model, which the driver gets",
    "population/household_risk.sql": "classes of equal risk",
    "release/attacks/attack_complementary.sql": _GROWS + "classes of two releases, which are paired",
    "release/attacks/attack_neighbours.sql": _GROWS + "rows in their order",
    "release/attacks/attack_position_codes.sql": _OF_COLUMN,
    "release/synthetic/synthetic_shapes.sql": _GROWS + "different values of numbers and dates, in their order",
    "release/synthetic/synthetic_shared.sql": _GROWS + "different values of numbers and dates, in their order",
    "remedies/remedy_patterns.sql": _FEW,
    "tabular/tabular_cells.sql": _OF_DIMENSION,
    "tabular/tabular_labels.sql": _OF_DIMENSION,
    "tabular/tabular_spellings.sql": _OF_DIMENSION,
    "tabular/tabular_totals.sql": _OF_DIMENSION,
    "remedies/remedy_release.sql": _FEW,
}
"""The templates that may have such a window on Spark, and what it is over."""


def windows_in_one_task(text: str) -> list[str]:
    """Return the windows of a statement that bring all their rows into one task of a cluster."""
    return [match[0] for match in _ONE_TASK.finditer(text) if not match[0].startswith(_OF_VALUES)]


class Executed:
    """Sees every statement that this process runs on Spark, and tells the templates that it was made of.

    A statement is known by its text. A template that holds one expression has no statement of its own; it counts where
    it is spelled.
    """

    def __init__(self) -> None:
        self.templates: set[str] = set()
        self.windows: set[str] = set()
        """Windows that nothing allows to run in one task."""
        self._asked: list[str] = []
        self._made_of: dict[str, tuple[str, ...]] = {}
        self._watch_jinja()
        self._watch_spelling()
        self._watching_spark = False

    def _watch_jinja(self) -> None:
        environment = sql.environment()
        get = environment.get_template

        def get_template(name: Any, parent: str | None = None, globals: Any = None) -> Any:
            if parent is None:  # else it is included by another one
                self._asked.clear()
            self._asked.append(str(name))
            return get(name, parent, globals)

        environment.get_template = get_template  # type: ignore[method-assign]

    def _watch_spelling(self) -> None:
        spell = spelling.spell

        def noted(text: str, dialect: str, raws: dict[str, str], *order: bool) -> str:
            spelled = spell(text, dialect, raws, *order)
            if dialect == "spark":
                self._made_of[spelled.strip()] = tuple(self._asked)
                if not order:  # of an expression
                    self.templates.update(self._asked)
            return spelled

        spelling.spell = noted

    def watch_spark(self) -> None:
        """From now on; before it, Spark need not be there."""
        if self._watching_spark:
            return
        self._watching_spark = True
        from sqlaudit.engines.spark.engine import SparkEngine

        frame = SparkEngine._frame

        def noted(engine: SparkEngine, text: str, parameters: Sequence[Any] = ()) -> Any:
            made = frame(engine, text, parameters)
            templates = self._of(text)
            self.templates.update(templates)
            # a release that is wrapped for its file has no template of its own; its audit has read it before
            if templates and templates[0] not in IN_ONE_TASK:
                self.windows.update(f"{templates[:1]}: {window}" for window in windows_in_one_task(text))
            return made

        SparkEngine._frame = noted  # type: ignore[method-assign]

    def _of(self, text: str) -> tuple[str, ...]:
        body = text[text.find("/* sqlaudit: ") :].partition("*/\n")[2]
        return self._made_of.get(body) or self._made_of.get(body.rpartition("\n) AS given(")[0], ())


class Complete:
    """The plugin that lets a whole run on Spark say which templates it has left out."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._executed = Executed()
        self._templates: set[str] = set()
        self._windows: set[str] = set()
        self._left_out: list[str] = []

    @pytest.hookimpl
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Spark's engine is there when a test needs it."""
        if _on_spark(item):
            self._executed.watch_spark()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """What another process has executed."""
        self._templates.update(getattr(node, "workeroutput", {}).get("templates_on_spark", ()))
        self._windows.update(getattr(node, "workeroutput", {}).get("windows_on_spark", ()))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a process of several: tell the others. In the one that reports: look what was left out."""
        self._templates |= self._executed.templates
        self._windows |= self._executed.windows
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["templates_on_spark"] = sorted(self._templates)
            output["windows_on_spark"] = sorted(self._windows)
            return
        if self._whole():
            self._left_out = sorted(templates() - self._templates)
        if self._windows:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say it."""
        if self._left_out:
            terminalreporter.section("templates that no test executed on Spark")
            terminalreporter.line(", ".join(self._left_out))
        if self._windows:
            terminalreporter.section("windows that Spark runs in one task, with no reason in IN_ONE_TASK")
            terminalreporter.line("\n".join(sorted(self._windows)))

    def _whole(self) -> bool:
        option = self._config.option
        return [Path(one).resolve() for one in self._config.args] == [REPOSITORY / "tests"] and not (
            option.keyword or option.markexpr or option.collectonly
        )


def templates() -> set[str]:
    """Every template that an engine may be asked; those of dbt are in its package."""
    folder = sql.template_folder()
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.sql")}
    return {name for name in found if not name.startswith("dbt/")}
