"""The warnings of an audit: columns that identify people, and what a verdict does not cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sqlaudit.base.columns_of import Resolved, columns_read, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote, spoken
from sqlaudit.base.parameter_names import about, command, spelled
from sqlaudit.base.relation import NUMBERS, ColumnInfo, Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.spec import KnownRows
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.profiles.columns import (
    NOT_READABLE,
    Source,
    estimated_distinct,
    facts_of,
    is_nested,
    propose,
    rows_of_values,
    values_statement,
)
from sqlaudit.profiles.names import concept_of, count_table, count_table_statements, published_table
from sqlaudit.profiles.result import NEARLY, ColumnFacts, Role, looks_like
from sqlaudit.reports.document import listing

if TYPE_CHECKING:
    from sqlglot import exp


# Equal values with different spellings: they count as one, but readers of the text can distinguish them.

_ADVICE = (
    "They count as one value, but readers of the text can distinguish them. Use one spelling before publication, or "
    "audit the texts (sqlaudit help equality)."
)


@dataclass(frozen=True)
class _Looked:
    """A column to look at. `type`: of a number that a text file writes. `meant`: whether texts may mean one number."""

    label: str
    sql: str
    source: str
    type: str = ""
    meant: bool = False


def equal_text_statement(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved] = (), first: int = 0
) -> list[Statement]:
    """The statement that counts such values among the first rows (0 = all); none where no column can have any."""
    columns = [
        {"sql": Raw(one.sql), "source": Raw(one.source), "type": one.type, "meant": one.meant}
        for one in _looked(engine, relation, roles, sensitive)
    ]
    return [render("profiles/equal_texts.sql", engine.dialect, columns=columns, first=first)] if columns else []


def equal_text_warnings(engine: Engine, relation: Relation, roles: ResolvedRoles, first: int) -> list[Warned]:
    """Warnings with the code `equal_but_written_differently`, one a column; `first` rows are looked at."""
    keys, values = roles.quasi_identifiers, roles.sensitive
    counts = {
        int(column): int(count)
        for statement in equal_text_statement(engine, relation, keys, values, first)
        for column, count in engine.run(statement)
    }
    found = [
        _written_differently(one.label, _counted(one, counts[i]))
        for i, one in enumerate(_looked(engine, relation, keys, values))
        if counts.get(i)
    ]
    by_type = " has a collation or type that treats different spellings as equal (such as A and a). "
    respelled = (role.label for role in (*keys, *values) if role.column in relation.respelled)
    return [*found, *(_written_differently(label, by_type + _ADVICE) for label in respelled)]


def _written_differently(label: str, said: str) -> Warned:
    return Warned("equal_but_written_differently", (label,), label + said)


def _looked(
    engine: Engine, relation: Relation, roles: Sequence[Resolved], sensitive: Sequence[Resolved]
) -> list[_Looked]:
    """The columns that may have such values."""
    found = []
    for role in (*roles, *sensitive):
        if role.column is not None and relation.written and role.kind in NUMBERS:
            found.append(_Looked(role.label, quote(role.column, engine.dialect), relation.written, role.type))
        elif _may_differ(role, relation, engine.dialect):
            found.append(_Looked(role.label, role.sql, relation.sql))
    texts = [role for role in sensitive if role.kind is Kind.TEXT and role.type.lower() != "uuid"]
    return [*found, *(_Looked(role.label, role.sql, relation.sql, meant=True) for role in texts)]


def _may_differ(role: Resolved, relation: Relation, dialect: str) -> bool:
    """Whether values of this type can be equal and have several texts; an expression's type may not be known."""
    if not role.type or role.column in relation.respelled:
        return False
    if role.kind is Kind.DECIMAL:
        return spoken(dialect).loose_decimals and "(" not in role.type
    if role.kind is Kind.OTHER:
        return not role.type.lower().startswith(NOT_READABLE)
    return role.kind is Kind.FLOAT or (role.kind is Kind.TEXT and "COLLATE" in role.type.upper())


def _counted(one: _Looked, count: int) -> str:
    if one.meant:
        said = (
            "mean the same (such as 01 and 1, 1,5 and 1.5, or 2020-1-1 and 2020-01-01). Each spelling counts as a "
            "different value. Use one spelling."
        )
    else:
        said = f"are equal in the database (such as 1.0 and 1.00, or -0 and 0). {_ADVICE}"
    return f": {'1 value has' if count == 1 else f'{count:,} values have'} several spellings that {said}"


# What a verdict does not cover, in sentences with column names and counts: columns without a role, columns that nobody
# could read, quasi-identifiers without a value, and persons with several rows. Pure.

MANY = 0.1
"""The share of unique rows from which on a column singles out many rows."""
FEW_ROWS = 10
"""In fewer rows, many unique ones are no surprise."""


def _without_role(names: Sequence[str]) -> Iterator[Warned]:
    """Columns without a role, which are not checked."""
    if names:
        text = f"Not checked: {_columns(names)} without a role ({listing(names)}). "
        text += f"Someone who knows {_it(names)} may know more than the quasi-identifiers."
        yield Warned("columns_without_role", tuple(names), text)


def _expressions(relation: Relation, roles: ResolvedRoles, dialect: str) -> Iterator[Warned]:
    """That a verdict is about expressions, and not about the columns that nothing but these expressions read."""
    made = [role for role in (*roles.quasi_identifiers, *roles.sensitive) if role.column is None]
    whole = {role.column for role in _all_roles(roles)}
    read = {role.label: sorted(columns_read(role, relation, dialect) - whole) for role in made}
    labels = [label for label, names in read.items() if names]
    columns = tuple(dict.fromkeys(name for names in read.values() for name in names))
    if columns:
        text = f"{listing(labels)} {'replaces' if len(labels) == 1 else 'replace'} {listing(columns)} in this audit. "
        text += f"The verdict applies to a table that has {_it(labels)} instead."
        yield Warned("read_by_expressions", columns, text)


def _likely_known(seen: Sequence[ColumnFacts], unseen: Sequence[str], where: str) -> Iterator[Warned]:
    """Columns without a role that look like quasi-identifiers, or that single out many rows.

    Args:
        seen: those that were looked at. unseen: names of further ones. where: which rows were looked at.
    """
    proposed = {facts.name: propose(facts).role for facts in seen}
    alike = [name for name, role in proposed.items() if role is Role.QUASI_IDENTIFIER]
    alike += [name for name in unseen if (found := concept_of(name)) and found.role is Role.QUASI_IDENTIFIER]
    telling = [  # direct identifiers are told of in a sentence of their own
        facts
        for facts in seen
        if facts.name not in alike and proposed[facts.name] is not Role.DIRECT_IDENTIFIER
        if facts.looked_at >= FEW_ROWS and (facts.unique_rows or 0) >= MANY * facts.looked_at
    ]
    said = []
    if alike:
        said.append(f"{listing(alike)} {looks_like('quasi-identifier', alike)}")
    if telling:
        verb = "singles" if len(telling) == 1 else "single"
        shares = [f"{one.name} ({one.unique_rows:,} of {one.looked_at:,} rows are unique)" for one in telling]
        said.append(f"{listing(shares)} {verb} out many rows{where}")
    if said:
        names = (*alike, *(facts.name for facts in telling))
        hint = f"Name {_it(names)} with {spelled('qi')} if others may know {_it(names)}."
        yield Warned("possible_quasi_identifier", names, f"Without a role: {'; '.join(said)}. {hint}", hint)


def _empty(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Quasi-identifiers without any value: they separate no groups, and perhaps were not filled by mistake."""
    names = tuple(facts.name for facts in seen if facts.looked_at and not facts.filled)
    if names:
        verb, separate = ("is", "separates") if len(names) == 1 else ("are", "separate")
        text = f"{listing(names)} {verb} all NULL{where} and {separate} no groups. "
        yield Warned("empty_quasi_identifier", names, f"{text}Is this the right table?")


def _unreadable(names: Sequence[str]) -> Iterator[Warned]:
    """Columns that the role may not read."""
    if names:
        text = f"Not checked: {_columns(names)} that this database role cannot read ({listing(names)})."
        yield Warned("unreadable_columns", tuple(names), text)


_JUDGED = {
    KnownRows.WORSE: "one row of a person and attackers who know all of them; the worse result counts",
    KnownRows.ONE: "one row of a person, not those who know several",
    KnownRows.ALL: "all rows of a person, not those who know only some",
}


def persons_with_several(entity: str, persons: int, several: int, known: KnownRows) -> Warned | None:
    """The attackers that a verdict on people covers.

    Args:
        entity: the column that identifies the person. persons: the number of people. several: those with more than one
            combination of the quasi-identifiers. known: the rows of a person that an attacker knows.
    """
    if not persons:
        return None
    text = f"People are counted by {entity}. "
    if not several:
        text += "Each has one combination of the quasi-identifiers, so it makes no difference "
        return Warned("one_combination", (entity,), f"{text}how many rows of a person an attacker knows.")
    text += f"{several:,} of {persons:,} {'has' if several == 1 else 'have'} more than one combination of the "
    text += f"quasi-identifiers. The verdict covers attackers who know {_JUDGED[known]}."
    return Warned("several_combinations", (entity,), text)


def _columns(names: Sequence[str]) -> str:
    return "1 column" if len(names) == 1 else f"{len(names):,} columns"


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _all_roles(roles: ResolvedRoles) -> tuple[Resolved, ...]:
    entity = (roles.entity,) if roles.entity else ()
    return (*roles.quasi_identifiers, *roles.sensitive, *roles.identifiers, *entity)


def source_of(column: ColumnInfo, dialect: str) -> Source | None:
    """A column to look at; None for bytes, by which not every engine can group."""
    readable = column.kind is not Kind.OTHER or is_nested(column.kind, column.type)
    return Source(column.name, quote(column.name, dialect), column.kind, column.type) if readable else None


# What a reader of an audit should know about the published columns, from one cheap statement over the first rows.

FIRST_ROWS = 20_000
"""How many rows are looked at: enough to see how a column is spelled, and nothing beside an audit of a large table."""
PSEUDONYMS = ("record_id", "uuid")
"""What the column of persons may be without a notice: it tells persons apart and does not say who they are."""
MOST_OTHERS = 20
"""Columns without a role that are looked at, so many with text and so many others; of the rest only the names."""


@dataclass(frozen=True)
class _Seen:
    """A column as far as it was looked at. `once` are the values that occur once among the rows looked at; `of_persons`
    says that it names persons."""

    facts: ColumnFacts
    once: int
    is_key: bool
    roleless: bool
    of_persons: bool


def audit_warnings(
    engine: Engine,
    relation: Relation,
    roles: ResolvedRoles,
    classes: ClassSizes | None = None,
    rows: int | None = None,
    insensitive: Sequence[str] = (),
) -> list[Warned]:
    """The warnings of an audit.

    Codes: `direct_identifier`, `possible_direct_identifier`, `identifier_in_text`, `all_different_column`,
    `division_of_whole_numbers`, `header_guessed`, `dates_guessed`, `hidden_rows`, `hidden_sheets`, `blank_rows`,
    `selected_rows`,
    `possible_quasi_identifier`, `unreadable_columns`, `empty_quasi_identifier`, `read_by_expressions`,
    `columns_without_role`, `nearly_unique_quasi_identifier`, `float_quasi_identifier`, `spelling_variants`,
    `equal_but_written_differently`, `published_table`.
    Messages hold counts, names and expressions of columns.

    Args:
        engine, relation: where the published table is. roles: the roles of its columns.
        classes: the equivalence classes, when they are known: fewer of them than `NEARLY` times the rows prove that no
            quasi-identifier is nearly unique.
        rows: rows of the table, when known; else the rows looked at stand for it.
        insensitive: columns that were reviewed and need no role.
    """
    bare = roleless_columns(relation, roles, engine.dialect, insensitive)
    seen = _look(engine, relation, roles, bare)
    looked_at = max((column.facts.looked_at for column in seen), default=0)
    whole = max(rows or 0, looked_at)
    where = f" (in the first {looked_at:,} rows)" if whole > looked_at else ""
    looked = {column.facts.name for column in seen}
    keys = [column for column in seen if column.is_key]
    # a column has no more values than there are classes
    can_be_unique = classes is None or classes.per_row or classes.count >= NEARLY * classes.members
    texts = equal_text_warnings(engine, relation, roles, FIRST_ROWS)
    cells = count_table(engine, relation, rows)
    return [
        *_declared(roles.identifiers),
        *_likely(seen, relation, roles, where),
        *_contained([one.facts for one in seen if not identifies(one.facts)], where),
        *_all_different([one.facts for one in seen if one.roleless], where),
        *_divisions(engine, relation, roles),
        *(Warned(remark.code, (), remark.text) for remark in relation.remarks),
        *_likely_known(
            [one.facts for one in seen if one.roleless], [name for name in bare if name not in looked], where
        ),
        *_unreadable([name for name in relation.unreadable if name not in insensitive]),
        *_empty([column.facts for column in keys], where),
        *_expressions(relation, roles, engine.dialect),
        *_without_role(bare),
        *(warned for column in keys if can_be_unique for warned in _nearly_unique(column, whole)),
        *(warned for column in keys for warned in _float(column.facts)),
        *(warned for column in keys for warned in _variants(column.facts, where)),
        *texts,
        *([published_table(cells)] if cells else []),
    ]


def warning_statements(engine: Engine, relation: Relation, roles: ResolvedRoles) -> list[Statement]:
    """The statements that `audit_warnings` runs: one for all columns to look at, one for types with equal texts."""
    keys, values = roles.quasi_identifiers, roles.sensitive
    return [
        *_looking(engine, relation, roles),
        *equal_text_statement(engine, relation, keys, values, FIRST_ROWS),
        *count_table_statements(engine, relation),
    ]


def _looking(engine: Engine, relation: Relation, roles: ResolvedRoles) -> list[Statement]:
    sources = _sources(relation, roles, engine.dialect)
    return [values_statement(engine, relation, sources, first=FIRST_ROWS, step="warnings")] if sources else []


def roleless_columns(
    relation: Relation, roles: ResolvedRoles, dialect: str, insensitive: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns that no role reads, and that are not declared insensitive.

    Raises:
        UsageError: an insensitive column that is not there, or that has a role.
    """
    read = {column for role in _all_roles(roles) for column in columns_read(role, relation, dialect)}
    for name in (name for name in insensitive if name not in relation.unreadable):
        column = resolve(name, relation, dialect, about("insensitive")).column
        if column is None or column in read:
            said = "is an expression" if column is None else "has a role already"
            raise UsageError(f"{about('insensitive')}: {name!r} {said}. Name columns that need no role.")
        read.add(column)
    return tuple(column.name for column in relation.columns if column.name not in read)


def _look(engine: Engine, relation: Relation, roles: ResolvedRoles, bare: Sequence[str]) -> list[_Seen]:
    sources = _sources(relation, roles, engine.dialect)
    rows = rows_of_values(engine, relation, sources, first=FIRST_ROWS, step="warnings") if sources else {}
    keys, named = len(roles.quasi_identifiers), len(roles.quasi_identifiers) + len(roles.sensitive)
    return [
        _Seen(
            facts_of(source, rows.get(i)),
            int(rows[i][7]) if i in rows else 0,
            i < keys,
            i >= named and source.name in bare,
            roles.entity is not None and source is sources[-1] and source.name == roles.entity.label,
        )
        for i, source in enumerate(sources)
    ]


def _sources(relation: Relation, roles: ResolvedRoles, dialect: str) -> list[Source]:
    """Quasi-identifiers, then sensitive attributes, then other columns: they are published as well; last who is who."""
    named = {role.column for role in _all_roles(roles)}
    found = (source_of(one, dialect) for one in relation.columns if one.name not in named)
    others = [one for one in found if one is not None]
    texts = [source for source in others if source.kind is Kind.TEXT]
    figures = [source for source in others if source.kind is not Kind.TEXT]
    looked_at = {source.name for source in (*texts[:MOST_OTHERS], *figures[:MOST_OTHERS])}
    chosen = [one for one in others if one.name in looked_at]
    persons = [roles.entity] if roles.entity is not None and roles.entity.kind is Kind.TEXT else []
    return [
        *(Source(role.label, role.sql, role.kind) for role in (*roles.quasi_identifiers, *roles.sensitive)),
        *chosen,
        *(Source(role.label, role.sql, role.kind) for role in persons),
    ]


def _divisions(engine: Engine, relation: Relation, roles: ResolvedRoles) -> Iterator[Warned]:
    """Expressions that another engine would read in another way."""
    for item in _all_roles(roles):
        if item.column:
            continue
        from sqlaudit.base.guard import DIVISION, remark_on_text

        remark = remark_on_text(item.sql, relation.columns, engine.dialect, item.label)
        if remark:
            yield Warned(DIVISION, (item.label,), remark)


def _declared(identifiers: Sequence[Resolved]) -> Iterator[Warned]:
    names = tuple(item.label for item in identifiers)
    if names:
        verb = "is a direct identifier" if len(names) == 1 else "are direct identifiers"
        text = f"{listing(names)} {verb} in the table. Leave {_it(names)} out: "
        text += f"{'it identifies' if len(names) == 1 else 'they identify'} people without any quasi-identifier."
        yield Warned("direct_identifier", names, text)


def _likely(seen: Sequence[_Seen], relation: Relation, roles: ResolvedRoles, where: str) -> Iterator[Warned]:
    """Columns that look like direct identifiers but are not declared: by their texts, or by name alone."""
    names = [
        column.facts.name
        for column in seen
        if identifies(column.facts) and not (column.of_persons and propose(column.facts).concept in PSEUDONYMS)
    ]
    entity = roles.entity.column if roles.entity is not None else None
    known = ({role.column for role in _all_roles(roles)} - {entity}) | {column.facts.name for column in seen}
    for column in relation.columns:
        concept = concept_of(column.name) if column.name not in known else None
        identifying = concept is not None and concept.role is Role.DIRECT_IDENTIFIER
        pseudonym = column.name == entity and concept is not None and concept.name in PSEUDONYMS
        if identifying and not pseudonym and column.kind in (Kind.INTEGER, Kind.TEXT):
            names.append(column.name)
    if names:
        hint = f"{command('profile')} gives the reasons."
        text = f"{listing(names)} {looks_like('direct identifier', names)}{where}. Anyone named in a row can be "
        text += f"identified, whatever the group size. {hint}"
        yield Warned("possible_direct_identifier", tuple(names), text, hint)


def identifies(facts: ColumnFacts) -> bool:
    """Whether a column looks like a direct identifier, by its name or by its values."""
    proposal = propose(facts)
    return proposal.role is Role.DIRECT_IDENTIFIER and proposal.concept is not None


def _contained(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Texts, lists, structures and JSON that contain what identifies people, in columns that are something else."""
    for facts in seen:
        if said := facts.mentioned:
            text = (
                f"{facts.name}: {listing(said)}{where}. Anyone named there can be identified, whatever the group size."
            )
            yield Warned("identifier_in_text", (facts.name,), text)


def _all_different(seen: Sequence[ColumnFacts], where: str) -> Iterator[Warned]:
    """Columns without a role that have a different value in almost every row, like record numbers."""
    proposed = {facts.name: propose(facts) for facts in seen}
    names = tuple(name for name, one in proposed.items() if one.role is Role.DIRECT_IDENTIFIER and one.concept is None)
    if names:
        verb, number = ("has", "a record number") if len(names) == 1 else ("have", "record numbers")
        hint = f"Leave {_it(names)} out, or name {_it(names)} with {spelled('insensitive')} after a check."
        text = f"Without a role: {listing(names)} {verb} a different value in almost every row{where}, like {number}."
        yield Warned("all_different_column", names, f"{text} {hint}", hint)


def _nearly_unique(column: _Seen, whole: int) -> Iterator[Warned]:
    facts = column.facts
    rows, distinct, about = facts.filled, facts.distinct, ""
    if whole > facts.looked_at > 0:
        rows = round(whole * facts.filled / facts.looked_at)
        distinct, about = estimated_distinct(facts.distinct, column.once, facts.filled, rows), "about "
    if facts.nearly_unique and distinct >= NEARLY * rows:
        text = f"{facts.name} has {about}{distinct:,} different values in {about}{rows:,} rows with a value. On its "
        text += "own it singles out almost every row. Round or group it, or leave it out."
        yield Warned("nearly_unique_quasi_identifier", (facts.name,), text)


def _float(facts: ColumnFacts) -> Iterator[Warned]:
    if facts.kind == Kind.FLOAT and facts.whole not in (None, facts.filled):
        hint = f"Round it, for example {spelled('qi', f'round({facts.name}, 1)')}."
        text = f"{facts.name} is a floating-point quasi-identifier. Numbers that print alike may differ and be in "
        text += f"different groups. {hint}"
        yield Warned("float_quasi_identifier", (facts.name,), text, hint)


def _variants(facts: ColumnFacts, where: str) -> Iterator[Warned]:
    if facts.respelled:
        number = "1 value differs" if facts.respelled == 1 else f"{facts.respelled:,} values differ"
        text = f"{facts.name}: {number} from another one only in case or spaces{where}, "
        yield Warned("spelling_variants", (facts.name,), f"{text}which splits groups that belong together.")


# Functions of the audited database that a user's own SQL calls, to be named: their results are taken as they are.

_BUILT_IN = {"pg_catalog", "system", "builtin"}


def called_functions(texts: Iterable[str], dialect: str) -> tuple[str, ...]:
    """The functions and operators that are called with the schema they are in, in the order of the texts.

    Example:
        >>> called_functions(["clinic.main.band(age) + abs(zip)", "pg_catalog.lower(sex)"], "postgres")
        ('clinic.main.band',)
    """
    called = [text for text in texts if "(" in text and "." in text]  # as a call has, and OPERATOR(schema.+) too
    return tuple(dict.fromkeys(name for text in called for name in _named(text, dialect)))


def called_warning(texts: Iterable[str], dialect: str) -> list[Warned]:
    """The warning `function_of_the_database`, when there are such functions."""
    names = called_functions(texts, dialect)
    if not names:
        return []
    text = f"An expression, condition or query calls {', '.join(names)} of the audited database. "
    text += f"The verdict applies to the values that {'it returns' if len(names) == 1 else 'they return'}."
    return [Warned("function_of_the_database", (), text)]


def _named(text: str, dialect: str) -> Iterator[str]:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, dialect=dialect)
    except SqlglotError:  # a column's name, which is no expression
        return
    yield from filter(None, map(_name, tree.find_all(exp.Dot, exp.Table, exp.Operator)))


def _name(node: exp.Expression) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Operator):
        parts = [part.strip('"') for part in str(node.args.get("operator") or "").split(".")]
    elif isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Func):
            return ""
        parts = [part.name for part in (node.args.get("catalog"), node.args.get("db")) if part] + [_function(node.this)]
    else:
        if not isinstance(node.expression, exp.Func) or isinstance(node.parent, exp.Dot):
            return ""
        parts = [part.name for part in node.flatten() if not isinstance(part, exp.Func)] + [_function(node.expression)]
    return ".".join(parts) if len(parts) > 1 and not _BUILT_IN & {part.lower() for part in parts[:-1]} else ""


def _function(call: exp.Func) -> str:
    from sqlglot import exp

    return call.name if isinstance(call, exp.Anonymous) else call.sql_name().lower()
