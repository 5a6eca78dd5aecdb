"""The tests of a policy as statements, each with a name that only this very statement has."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import options_of
from sqlaudit.base.words import speaking
from sqlaudit.gates.cell_limits import OTHERS
from sqlaudit.gates.nodes import in_a_policy
from sqlaudit.gates.spec import CellLimit, TableEntry, TestSpec
from sqlaudit.gates.standalone.cells import compile_cells
from sqlaudit.gates.standalone.checks import Compiled, compile_checks
from sqlaudit.gates.standalone.names import DIALECTS, find_dialect
from sqlaudit.gates.standalone.recipes import NotCarried
from sqlaudit.gates.standalone.returns import AnswerForm, Returns
from sqlaudit.tabular.request import AggregatesRequest

EXACT = "exact"
_UNNAMED = "test_id_of_this_statement"
_ID = re.compile(rf"[a-z0-9_]+__([a-z]+)_(?:({EXACT})_)?([0-9a-f]{{20}})")
_WHOM = {"one": "one row", "all": "all rows"}
_ONE_SELECT = ("count", "contributors", "value", "holdings", "largest")
"""What one SELECT knows of cells."""


@dataclass(frozen=True)
class Wording:
    """How statements of a policy are written: what decides their text besides the policy.

    Args:
        dialect: a key of `DIALECTS`. exact_names: whether columns are named exactly. returns: what is returned.
        run: a text that is part of every name, so that the answers of one run are told from those of another.
    """

    dialect: str
    exact_names: bool = False
    returns: Returns = Returns.ROW
    run: str = ""


@dataclass(frozen=True)
class PolicyStatement:
    """One statement of a test; with an `entity` a test may have two.

    Args:
        table, spec: the test. compiled: the statement, or why there is none.
        test_id: its name, made from its text: another statement has another one. Empty where there is none.
    """

    table: TableEntry
    spec: TestSpec
    compiled: Compiled
    test_id: str = ""

    @property
    def sensitive(self) -> str | None:
        """The attribute that it is about."""
        return self.compiled.sensitive


def wording_of(test_id: str, run: str, returns: Returns = Returns.ROW) -> Wording | None:
    """How the statement of a name was written; None when the text is no such name.

    Example:
        >>> wording_of("claims__k_5__snowflake_exact_" + "0" * 20, "").dialect
        'snowflake'
    """
    found = _ID.fullmatch(test_id)
    if found is None or found[1] not in DIALECTS:
        return None
    return Wording(found[1], found[2] is not None, returns, run)


@speaking(in_a_policy)
def policy_statements(tables: Sequence[TableEntry], wording: Wording) -> list[PolicyStatement]:
    """The statements of all tests of some tables, in the policy's order.

    Returns:
        One for every sensitive attribute of a test, and for who knows one row of a person and all of them; where none
        carries a test, `compiled.refused` says why.

    Raises:
        UsageError: an unknown dialect.
    """
    known = replace(wording, dialect=find_dialect(wording.dialect))
    return [made for table in tables for spec in table.tests for made in statements_of(table, spec, known)]


def statements_of(table: TableEntry, spec: TestSpec, wording: Wording) -> list[PolicyStatement]:
    """The statements of one test, at least one: where none carries it, that one says why."""
    try:
        _refuse(table, spec)
        compiled = list(_compiled(table, spec, wording))
    except UsageError as reason:
        return [
            PolicyStatement(table, spec, Compiled(spec.requirement, "", None, wording.dialect, refused=str(reason)))
        ]
    return [_named(PolicyStatement(table, spec, one), wording) for one in compiled]


def _refuse(table: TableEntry, spec: TestSpec) -> None:
    """Nothing, where a statement may carry the test.

    Raises:
        UsageError: there is a mistake in it. NotCarried: it needs more than its table.
    """
    if table.mistakes or spec.mistake:
        raise UsageError(spec.mistake or "there is a mistake in the policy of this table.")
    if not table.connection:
        raise NotCarried("its rows are in a file, and a warehouse has tables; give it a 'connection' and a 'table'.")
    if spec.columns is not None:
        raise NotCarried("column sets are searched for with many statements, each from the answers of those before.")
    if spec.loss is not None:
        raise NotCarried("a loss compares two tables in Python.")
    if spec.series is not None:
        raise NotCarried("it follows persons through several releases, and is judged in Python.")
    if spec.identifier or spec.all_named:
        raise NotCarried("it is about which columns there are, which one SELECT over the rows does not tell.")
    if table.persons and spec.cells is None:
        raise NotCarried(
            "which of the policy's 'persons' this table is about is found in the database; say 'persons: false', and "
            "name its entity."
        )


def _compiled(table: TableEntry, spec: TestSpec, wording: Wording) -> Iterator[Compiled]:
    assert table.target is not None
    answer, exact = AnswerForm(wording.returns, _UNNAMED), wording.exact_names
    if spec.cells is not None:
        yield from _cells(table, spec.cells, wording, answer)
        return
    assert spec.model is not None
    found = compile_checks(
        table.target,
        table.roles,
        [spec.model],
        dialect=wording.dialect,
        inputs=table.inputs,
        exact_names=exact,
        answer=answer,
    )
    yield from (one for one in found if not spec.sensitive or one.sensitive is None or one.sensitive in spec.sensitive)


def _cells(table: TableEntry, limit: CellLimit, wording: Wording, answer: AnswerForm) -> list[Compiled]:
    """The statement of a rule for cells.

    Raises:
        NotCarried: it looks at more than the single cells.
    """
    request = limit.request
    known = (*_ONE_SELECT, "by", "requirements", "show_values")
    plain = {name: one.default for name, one in options_of(AggregatesRequest)}
    further = [one.name for one in fields(request) if one.name in plain and one.name not in known]
    given = [name for name in further if getattr(request, name) != plain[name]]
    given += [key for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True) if tables]
    if given:
        raise NotCarried(f"one SELECT looks at single cells, without {', '.join(given)}.")
    assert table.target is not None
    return compile_cells(
        table.target,
        request.requirements,
        dialect=wording.dialect,
        exact_names=wording.exact_names,
        answer=answer,
        **{name: getattr(request, name) for name in _ONE_SELECT},
    )


def _named(made: PolicyStatement, wording: Wording) -> PolicyStatement:
    """The statement with its name, which stands in its text where it returns its name."""
    one = made.compiled
    asked = [made.table.name, made.spec.requirement, one.sensitive, one.known_rows, one.sql, wording.run]
    digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:20]
    words = [made.table.name, made.spec.requirement, one.sensitive or "", _WHOM.get(one.known_rows, "")]
    readable = "__".join(_plain(word) for word in words if _plain(word))
    written = "_".join([wording.dialect, *[EXACT] * wording.exact_names, digest])
    test_id = f"{readable or 'test'}__{written}"
    return replace(made, test_id=test_id, compiled=replace(one, sql=one.sql.replace(_UNNAMED, test_id)))


def _plain(text: str) -> str:
    """A text in what every warehouse and file system takes, shortened: the digest tells names apart."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40].strip("_")


def policy_script(made: Sequence[PolicyStatement], policy: str, version: str) -> str:
    """All statements of a policy as one script."""
    return "\n".join([policy_heading(made, policy, version), *(statement_text(one) for one in made)])


def policy_heading(made: Sequence[PolicyStatement], policy: str, version: str) -> str:
    """What stands at the head of a script."""
    from sqlaudit.gates.standalone.checks import heading

    written = sum(1 for one in made if one.compiled.sql)
    told = f"sqlaudit {version}: {written} {'statement' if written == 1 else 'statements'} of {policy}"
    return heading(told, made[0].compiled.dialect)


def statement_text(one: PolicyStatement) -> str:
    """A statement under comments that say which test it is."""
    from sqlaudit.gates.standalone.checks import comment, section

    about = [f"{one.table.name}: {one.spec.requirement} ({one.spec.place})"]
    if one.compiled.refused:
        return comment([f"{about[0]} is not here: {one.compiled.refused}"])
    return comment([*about, f"test_id: {one.test_id}"]) + section(one.compiled)
