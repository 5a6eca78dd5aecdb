"""What a reader of an audit should know about the published columns, from one cheap statement over the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.words import about, command, spelled
from sqlaudit.classes.found import ClassSizes
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import Source, estimated_distinct, facts_of, values_statement
from sqlaudit.profiles.count_tables import count_table, count_table_statements, published_table
from sqlaudit.profiles.equal_texts import equal_text_statement, equal_text_warnings
from sqlaudit.profiles.names import concept_of
from sqlaudit.profiles.result import NEARLY, ColumnFacts, Role
from sqlaudit.profiles.roles import propose
from sqlaudit.profiles.uncovered import as_expressions, can_be_looked_at, empty, likely_known, unreadable, without_role
from sqlaudit.reports.figures import listing

FIRST_ROWS = 20_000
"""How many rows are looked at: enough to see how a column is spelled, and nothing beside an audit of a large table."""
MOST_OTHERS = 20
"""Columns without a role that are looked at, so many with text and so many others; of the rest only the names."""


class Named(Protocol):
    """The columns of an audit by role, as `sqlaudit.classes.opening.ResolvedRoles` has them."""

    @property
    def quasi_identifiers(self) -> tuple[Resolved, ...]: ...
    @property
    def sensitive(self) -> tuple[Resolved, ...]: ...
    @property
    def identifiers(self) -> tuple[Resolved, ...]: ...
    @property
    def entity(self) -> Resolved | None: ...


@dataclass(frozen=True)
class _Seen:
    """A column as far as it was looked at. `once` are the values that occur once among the rows looked at; `of_persons`
    says that it names persons."""

    facts: ColumnFacts
    once: int
    named: bool
    is_key: bool
    roleless: bool = False
    of_persons: bool = False


def audit_warnings(
    engine: Engine,
    relation: Relation,
    roles: Named,
    classes: ClassSizes | None = None,
    rows: int | None = None,
    insensitive: Sequence[str] = (),
) -> list[Warned]:
    """The warnings of an audit.

    Codes: `direct_identifier`, `possible_direct_identifier`, `division_of_whole_numbers`, `header_guessed`,
    `possible_quasi_identifier`, `unreadable_columns`, `empty_quasi_identifier`, `read_by_expressions`,
    `columns_without_role`, `nearly_unique_quasi_identifier`, `float_quasi_identifier`, `spelling_variants`,
    `equal_but_written_differently`, `published_table`.
    Messages hold counts, names and expressions of columns.

    Args:
        engine, relation: where the published table is. roles: the roles of its columns.
        classes: the equivalence classes, when they are known: fewer of them than `NEARLY` times the rows prove that no
            quasi-identifier is nearly unique.
        rows: rows of the table, when known; else the rows looked at stand for it.
        insensitive: columns that need no role, because somebody looked at them.
    """
    bare = roleless_columns(relation, roles, engine.dialect, insensitive)
    seen = _look(engine, relation, roles, bare)
    looked_at = max((column.facts.looked_at for column in seen), default=0)
    whole = max(rows or 0, looked_at)
    where = f" (in the first {looked_at:,} rows)" if whole > looked_at else ""
    found = [
        _declared(roles.identifiers),
        _likely(seen, relation, roles, where),
        *_divisions(engine, relation, roles),
        *(Warned(remark.code, (), remark.text) for remark in relation.remarks),
        likely_known([column.facts for column in seen if column.roleless], _unseen(seen, bare), where),
        unreadable(relation.unreadable),
        empty([column.facts for column in seen if column.is_key], where),
        _expressions(relation, roles, engine.dialect),
        without_role(bare),
        *(_nearly_unique(column, whole) for column in seen if column.is_key and _can_be_unique(classes)),
        *(_float(column.facts) for column in seen if column.is_key),
        *(_variants(column, where) for column in seen if column.named or column.of_persons),
    ]
    texts = equal_text_warnings(engine, relation, [*roles.quasi_identifiers, *roles.sensitive], FIRST_ROWS)
    cells = count_table(engine, relation, rows)
    return [
        *(warning for warning in found if warning is not None),
        *texts,
        *([published_table(cells)] if cells else []),
    ]


def warning_statements(engine: Engine, relation: Relation, roles: Named) -> list[Statement]:
    """The statements that `audit_warnings` runs: one for all columns to look at, one for types with equal texts."""
    named = [*roles.quasi_identifiers, *roles.sensitive]
    return [
        *_looking(engine, relation, roles),
        *equal_text_statement(engine, relation, named, FIRST_ROWS),
        *count_table_statements(engine, relation),
    ]


def _looking(engine: Engine, relation: Relation, roles: Named) -> list[Statement]:
    sources = _sources(relation, roles, engine.dialect)
    return [values_statement(engine, relation, sources, first=FIRST_ROWS, step="warnings")] if sources else []


def roleless_columns(
    relation: Relation, roles: Named, dialect: str, insensitive: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns that no role reads, and that nobody said to be insensitive.

    Raises:
        UsageError: an insensitive column that is not there, or that has a role.
    """
    entity = (roles.entity,) if roles.entity else ()
    named = (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)
    read = {column for role in named for column in columns_read(role, relation, dialect)}
    for name in insensitive:
        column = resolve(name, relation, dialect, about("insensitive")).column
        if column is None or column in read:
            said = "is an expression" if column is None else "has a role already"
            raise UsageError(f"{about('insensitive')}: {name!r} {said}; name columns that need no role.")
        read.add(column)
    return tuple(column.name for column in relation.columns if column.name not in read)


def _expressions(relation: Relation, roles: Named, dialect: str) -> Warned | None:
    """Which columns nothing but expressions over them stand for."""
    made = [role for role in (*roles.quasi_identifiers, *roles.sensitive) if role.column is None]
    whole = _names(roles)
    read = [sorted(columns_read(role, relation, dialect) - whole) for role in made]
    labels = [role.label for role, columns in zip(made, read, strict=True) if columns]
    return as_expressions(labels, list(dict.fromkeys(name for columns in read for name in columns)))


def _unseen(seen: Sequence[_Seen], bare: Sequence[str]) -> list[str]:
    """The columns without a role that were not looked at."""
    known = {column.facts.name for column in seen}
    return [name for name in bare if name not in known]


def _look(engine: Engine, relation: Relation, roles: Named, bare: Sequence[str]) -> list[_Seen]:
    sources = _sources(relation, roles, engine.dialect)
    rows = {int(row[0]): row for statement in _looking(engine, relation, roles) for row in engine.run(statement)}
    keys, named = len(roles.quasi_identifiers), len(roles.quasi_identifiers) + len(roles.sensitive)
    return [
        _Seen(
            facts_of(source, rows.get(i)),
            int(rows[i][7]) if i in rows else 0,
            i < named,
            i < keys,
            i >= named and source.name in bare,
            roles.entity is not None and i == len(sources) - 1 and source.name == roles.entity.label,
        )
        for i, source in enumerate(sources)
    ]


def _sources(relation: Relation, roles: Named, dialect: str) -> list[Source]:
    """Quasi-identifiers, then sensitive attributes, then other columns: they are published as well; last who is who."""
    given = [*roles.quasi_identifiers, *roles.sensitive]
    others = [
        Source(column.name, quote(column.name, dialect), column.kind)
        for column in relation.columns
        if can_be_looked_at(column.kind) and column.name not in _names(roles)
    ]
    texts = [source for source in others if source.kind is Kind.TEXT]
    figures = [source for source in others if source.kind is not Kind.TEXT]
    looked_at = {source.name for source in (*texts[:MOST_OTHERS], *figures[:MOST_OTHERS])}
    chosen = [source for source in others if source.name in looked_at]
    persons = [roles.entity] if roles.entity is not None and roles.entity.kind is Kind.TEXT else []
    first, last = ([Source(item.label, item.sql, item.kind) for item in items] for items in (given, persons))
    return [*first, *chosen, *last]


def _divisions(engine: Engine, relation: Relation, roles: Named) -> Iterator[Warned]:
    """Expressions that another engine would read in another way."""
    entity = (roles.entity,) if roles.entity else ()
    expressions = [
        item for item in (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity) if not item.column
    ]
    if not expressions:
        return
    from sqlaudit.base.division import DIVISION, remark_on_text

    for item in expressions:
        remark = remark_on_text(item.sql, relation.columns, engine.dialect, item.label)
        if remark:
            yield Warned(DIVISION, (item.label,), remark)


def _names(roles: Named) -> set[str | None]:
    entity = (roles.entity,) if roles.entity else ()
    return {item.column for item in (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)}


def _declared(identifiers: Sequence[Resolved]) -> Warned | None:
    names = tuple(item.label for item in identifiers)
    if not names:
        return None
    verb, them = ("is a direct identifier", "it") if len(names) == 1 else ("are direct identifiers", "them")
    return Warned(
        "direct_identifier",
        names,
        f"{listing(names)} {verb} among the columns of the table: leave {them} out, or whoever sees a row needs no "
        "quasi-identifier.",
    )


def _likely(seen: Sequence[_Seen], relation: Relation, roles: Named, where: str) -> Warned | None:
    """Columns that look like direct identifiers though nobody said so: by their texts, or by name alone."""
    names = [column.facts.name for column in seen if not column.of_persons and _identifies(column.facts)]
    known = _names(roles) | {column.facts.name for column in seen}
    for column in relation.columns:
        concept = concept_of(column.name) if column.name not in known else None
        if concept is not None and concept.role is Role.DIRECT_IDENTIFIER and column.kind in (Kind.INTEGER, Kind.TEXT):
            names.append(column.name)
    if not names:
        return None
    verb = "looks like a direct identifier" if len(names) == 1 else "look like direct identifiers"
    hint = f"{command('profile')} gives the reasons."
    return Warned(
        "possible_direct_identifier",
        tuple(names),
        f"{listing(names)} {verb}{where}: whoever is named in a row can be found whatever the size of the class. "
        f"{hint}",
        hint,
    )


def _identifies(facts: ColumnFacts) -> bool:
    proposal = propose(facts)
    return proposal.role is Role.DIRECT_IDENTIFIER and proposal.concept is not None


def _can_be_unique(classes: ClassSizes | None) -> bool:
    """A column has no more values than there are classes."""
    return classes is None or classes.per_row or classes.count >= NEARLY * classes.members


def _nearly_unique(column: _Seen, whole: int) -> Warned | None:
    facts = column.facts
    if not facts.nearly_unique:
        return None
    rows, about = facts.filled, ""
    distinct = facts.distinct
    if whole > facts.looked_at:
        rows = round(whole * facts.filled / facts.looked_at)
        distinct, about = estimated_distinct(facts.distinct, column.once, facts.filled, rows), "about "
    if distinct < NEARLY * rows:
        return None
    return Warned(
        "nearly_unique_quasi_identifier",
        (facts.name,),
        f"{facts.name} has {about}{distinct:,} different values in {about}{rows:,} rows with a value: alone it picks "
        "out almost every row. Round or group it, or leave it out.",
    )


def _float(facts: ColumnFacts) -> Warned | None:
    if facts.kind != Kind.FLOAT or facts.whole is None or facts.whole == facts.filled:
        return None
    hint = f"Round it, for instance {spelled('qi', f'round({facts.name}, 1)')}."
    return Warned(
        "float_quasi_identifier",
        (facts.name,),
        f"{facts.name} is a floating-point quasi-identifier: numbers that print alike may differ, and then fall into "
        f"different classes. {hint}",
        hint,
    )


def _variants(column: _Seen, where: str) -> Warned | None:
    facts = column.facts
    if not facts.respelled:
        return None
    number = "1 value differs" if facts.respelled == 1 else f"{facts.respelled:,} values differ"
    so = "which splits classes that belong together" if column.is_key else "and counts as a value of its own"
    so = "and who is written in two ways counts as two persons" if column.of_persons else so
    return Warned(
        "spelling_variants",
        (facts.name,),
        f"{facts.name}: {number} from another one only in case or spaces{where}, {so}.",
    )
