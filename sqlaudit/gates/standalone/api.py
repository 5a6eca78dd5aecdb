"""The Python interface to standalone SQL: `sqlaudit.compile_checks`. Nothing is connected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlaudit.base.annotated import wrong_types_told
from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import check_ending, write_text
from sqlaudit.base.spec import KnownRows, NullPolicy, Requirement, Roles, Target, roles_from
from sqlaudit.base.version import __version__
from sqlaudit.base.words import spelled
from sqlaudit.gates.standalone import checks as standalone
from sqlaudit.gates.standalone.cells import compile_cells
from sqlaudit.gates.standalone.checks import Compiled
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.models.requirements import requirement_from, requirements
from sqlaudit.reports.notebook import frame_of_rows

Checks = Mapping[str, Any] | Iterable[str | Requirement] | str


class CompiledChecks(list[Compiled]):
    """The checks as statements: a list, printed in three lines, as a frame, or as a file of SQL.

    Args:
        compiled: the checks. target: the table that they are about.
    """

    def __init__(self, compiled: Iterable[Compiled], target: Target) -> None:
        super().__init__(compiled)
        self._target = target

    def __repr__(self) -> str:
        refused = sum(1 for one in self if one.refused)
        left = f", {refused} of them refused" if refused else ""
        number = f"{len(self)} check{'' if len(self) == 1 else 's'}"
        where = f" for {self[0].dialect}" if self else ""
        names = ", ".join(dict.fromkeys(one.check for one in self))
        lines = (
            f"CompiledChecks: {number} as SQL{where}{left}",
            names,
            "More: .to_frame(), .save('checks.sql'), [0].sql",
        )
        return "\n".join(line if len(line) <= 160 else line[:159] + "…" for line in lines)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each check.

        Raises:
            MissingDriver: pandas is not installed.
        """
        return frame_of_rows([{**asdict(one), "executed": one.executed} for one in self])

    def save(self, path: str | Path) -> None:
        """Write the statements to a file, whole or not at all.

        Raises:
            UsageError: the file does not end in .sql or .txt, or cannot be written.
        """
        check_ending(Path(path), (".sql", ".txt"))
        write_text(Path(path), standalone.script(self, self._target, __version__))


@wrong_types_told
def compile_checks(
    table: str = "",
    *,
    qi: Sequence[str] | str = (),
    sensitive: Sequence[str] | str = (),
    checks: Checks = (),
    dialect: str = "duckdb",
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    known_rows: KnownRows | str = KnownRows.WORSE,
    roles: Roles | Mapping[str, Any] | None = None,
    query: str = "",
    where: str = "",
    inputs: Mapping[str, Any] | None = None,
    exact_names: bool = False,
    count: str = "",
    contributors: str = "",
    value: str = "",
    holdings: str = "",
    largest: Sequence[str] = (),
) -> CompiledChecks:
    """Write each check as one SELECT that returns one row.

    Args:
        table: a table or view, as the warehouse calls it; empty with `query`, one SELECT in the dialect.
        qi: quasi-identifiers: column names or SQL expressions in the dialect.
        sensitive: sensitive attributes, each looked at on its own.
        checks: `{"k": 5, "recursive_l": {"c": 3, "l": 2}}`, `["k=5", "t=0.2"]`, or names of models for their figures
            alone; none = the figures of every model.
        dialect: a key of `sqlaudit.gates.standalone.names.DIALECTS`, such as "snowflake".
        entity, joint, nulls, known_rows: as for `sqlaudit.audit`; NULLs that match anything cannot be written.
        roles: the roles at once, instead of their parameters: a mapping of these, or a `Roles` without identifiers.
        where: a SQL condition on the rows of `table`.
        inputs: `population` (a table of the warehouse) and `class_function: identity`.
        exact_names: whether columns are named in their exact case, and quoted.
        count, contributors, value, holdings, largest: with one of these, `table` is a published table, and checks are
            rules for its cells (`threshold=5`), as for `sqlaudit.aggregates`.

    Returns:
        In the order of the checks, for each sensitive attribute, and with an entity for who knows one row of a person
        and for who knows all: `sql`, or without checks a reason in `refused`.

    Raises:
        UsageError: an unknown model or dialect, no table's name, or a check that one SELECT cannot carry.

    Example:
        >>> (found,) = compile_checks("release.claims", qi=["age", "sex"], checks={"k": 5}, dialect="snowflake")
        >>> found.check, found.executed, found.sql.splitlines()[-1]
        ('k=5', False, 'FROM judged')
    """
    cells: dict[str, Any] = {"count": count, "contributors": contributors, "value": value, "holdings": holdings}
    given = Target(relation=table, query=query, where=where)
    if any(cells.values()):
        rules = requirements(checks, among=CELL_RULES)
        return CompiledChecks(
            compile_cells(given, rules, dialect=dialect, largest=largest, exact_names=exact_names, **cells), given
        )
    named = {"qi": qi, "sensitive": sensitive, "entity": entity, "joint": joint, "nulls": nulls}
    asked = roles_from({**named, "known_rows": known_rows, "roles": roles})
    return CompiledChecks(
        standalone.compile_checks(
            given, asked, _checks(checks), dialect=dialect, inputs=inputs, exact_names=exact_names
        ),
        given,
    )


def _checks(checks: Checks) -> list[str | Requirement]:
    if isinstance(checks, Mapping):
        return [requirement_from(name, value) for name, value in checks.items()]
    if not isinstance(checks, Iterable):
        said = "a mapping such as {'k': 5}, a text or a list of texts"
        raise UsageError(f"{spelled('checks')} takes {said}, not a value of type {type(checks).__name__}.")
    return [checks] if isinstance(checks, str) else list(checks)
