"""Rules for the cells of published tables as statements: one SELECT each, in the dialect of any warehouse."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, command, spelled
from sqlaudit.gates.standalone.checks import Compiled
from sqlaudit.gates.standalone.names import column, find_dialect, source
from sqlaudit.gates.standalone.recipes import NotCarried
from sqlaudit.gates.standalone.returns import AnswerForm
from sqlaudit.models.base import Context
from sqlaudit.models.cell_rules import CellRule
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.models.requirements import parse_requirements

_FIGURES = AnswerForm()


def compile_cells(
    target: Target,
    checks: Sequence[str | Requirement],
    *,
    dialect: str = "duckdb",
    count: str = "",
    contributors: str = "",
    value: str = "",
    holdings: str = "",
    largest: Sequence[str] = (),
    exact_names: bool = False,
    answer: AnswerForm = _FIGURES,
) -> list[Compiled]:
    """Each rule over the cells of a table as one SELECT with one row; nothing is connected.

    Args:
        target: a table by name with a row for each cell, or a query in the dialect. checks: rules (`threshold=5`).
        count, contributors, value, holdings, largest: which column says what of a cell, as for `sqlaudit.aggregates`.
        exact_names: whether columns are named exactly, in the right case, and quoted.
        answer: what a statement returns.

    Returns:
        Statements of columns cells, hidden_cells, undecided_cells, unsafe_cells, verdict (`pass`, `fail`, or
        `undecided`: also where nothing falls short and cells are hidden, since totals may give these back).

    Raises:
        NotCarried: a rule that one SELECT cannot carry. UsageError: an unknown rule, or a column that is not named.

    Example:
        >>> found = compile_cells(Target("counts"), ["threshold=5"], dialect="snowflake", count="n")
        >>> found[0].sql.splitlines()[-1]
        'FROM counted'
    """
    speech = find_dialect(dialect)
    named = {"n": (contributors or count, "count"), "x": (value, "value"), "h": (holdings, "holdings")}
    named |= {f"x{place}": (name, "largest") for place, name in enumerate(largest, 1)}
    asked = [one for check in checks for one in _requirements(check)]
    if not asked:
        raise UsageError("Name the rules for cells, for instance threshold=5.")
    compiled = []
    for one in asked:
        rule = CELL_RULES[one.model](one.parameters, Context(None, 0))
        columns = {
            name: Raw(column(text, speech, about(option), exact=exact_names))
            for name, (text, option) in named.items()
            if text
        }
        sql = _statement(rule, one, columns, Raw(source(target, speech)), speech, answer)
        compiled.append(Compiled(one.text or one.model, one.model, None, speech, sql))
    return compiled


def _requirements(check: str | Requirement) -> tuple[Requirement, ...]:
    return (check,) if isinstance(check, Requirement) else parse_requirements(check, among=CELL_RULES)


def _statement(
    rule: CellRule, asked: Requirement, columns: dict[str, Raw], table: Raw, dialect: str, answer: AnswerForm
) -> str:
    alone = rule.alone()
    if alone is None:
        raise NotCarried(f"{asked.text!r} looks at margins of cells, as only {command('aggregates')} does.")
    needed = alone.columns
    missing = [name for name in needed if name not in columns]
    if missing:
        options = {"n": "count", "x": "value", "h": "holdings"}
        raise UsageError(f"{asked.text!r} needs a column; name it with {spelled(options.get(missing[0], 'largest'))}.")
    statement = render(
        "gates/standalone/standalone_cells.sql",
        dialect,
        source=table,
        columns={name: columns[name] for name in needed},
        published=needed[0],
        macro=alone.macro,
        arguments=dict(alone.arguments),
        **answer.parameters(cells=True),
    )
    return statement.sql.partition("\n")[2]
