"""What every command over equivalence classes begins with: roles, values that are one, and a copy if needed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from sqlaudit.base.columns_of import Resolved, columns_read, find_column, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.spec import Folding, KnownRows, NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.attribute_inputs import refuse_unclear
from sqlaudit.classes.facts import Frame, SensitiveTable
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.inputs import population_target, read_inputs
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.document import plural

# Who is one person, what is one value: nothing is folded silently.
#
# 'HIV', 'hiv ' and 'HIV' with a character that nobody sees may be one value or three. Where folding (case, blanks,
# width, the order of accents, characters without a picture; of sensitive values also '' and NULL) makes any two of a
# column one, the user says which it is; until then what judges is undetermined, and what cannot say that refuses.

BLANKS = "9-d 1c-20 85 a0 1680 2000-200a 2028-2029 202f 205f 3000"
UNSEEN = (
    "1-8 e-1b 7f-84 86-9f ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e "
    "2060-206f 2800 2d7f 3164 fe00-fe0f feff ffa0 fff0-fffc 1107f 110bd 110cd 13430-1343f 16fe4 1bca0-1bca3 1d159 "
    "1d173-1d17a e0000-e0fff"
)
"""Code points without a picture but NUL, which PostgreSQL has not: Cf and Cc without blanks, what programs may
ignore, variation selectors, tags, fillers, joiners, an empty note head, and what stands for an object."""
_COMBINING = "300-36f 1100-11ff 1ab0-1aff 1dc0-1dff 1f00-1fff 2126 212a-212b 302a-302f 3099-309a d7b0-d7ff f900-faff"
"""Of what an engine that does not normalize cannot say how else it is written; with all marks, as Java calls them."""
_ODD, _EVEN = "ıİſςϐϑϕϖϰϱϵµẛ", "iisσβθφπκρεμṡ"
_WIDE = {
    chr(code): chr(int(unicodedata.decomposition(chr(code)).split()[1], 16))
    for code in range(0xFF00, 0xFFF0)
    if unicodedata.decomposition(chr(code)).startswith(("<wide>", "<narrow>"))
}
_ESCAPES = {"postgres": lambda code: f"\\U{code:08X}"}
_ENDS = {"postgres": "\\Z", "spark": "\\z", "duckdb": "\\z"}
_WITH_NUL = {"postgres": "", "spark": "0 ", "duckdb": "0 "}
"""The sign NUL among those that nobody sees; PostgreSQL has no text with it."""
_UNSURE = {"spark": "[\\p{{M}}{}]", "postgres": "[^\\x01-\\x7f]"}
_PLAIN_TYPES = re.compile(r"uuid|interval|time|date|bit|varbit|inet|cidr|macaddr|oid|money|pg_lsn|null|void|\w*range$")
_NESTED = re.compile(
    r".*\[|array|list|struct|map|union|row|record|json|hstore|xml|bytea|blob|binary|varbinary|variant|ts(vector|query)"
)
_OF_NUMBERS = re.compile(
    r"(array<)?(u?(tiny|small|big|huge)?int(eger|\d)?|double( precision)?|float\d?|real|(decimal|numeric)(\([\d, ]*\))?"
    r"|boolean|bool|date|uuid)[\[\]\d>]+"
)


class Valued(Protocol):
    """A column or expression of a relation."""

    @property
    def sql(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def type(self) -> str: ...


V = TypeVar("V", bound=Valued)


class CountedRoles(Protocol):
    """The columns whose values count, as `sqlaudit.classes.opening.ResolvedRoles` has them."""

    @property
    def sensitive(self) -> Sequence[Resolved]: ...
    @property
    def entity(self) -> Resolved | None: ...


@dataclass(frozen=True)
class ColumnValues:
    """A column whose values count as different: persons, or a sensitive attribute.

    Args:
        name: how the user calls it. places: the tables that have it, each with the column there.
        missing: whether NULL is a value, as that of a sensitive attribute is.
    """

    name: str
    places: Sequence[tuple[Relation, Valued]]
    missing: bool = True


def values_of(
    relation: Relation, roles: CountedRoles, dialect: str, others: Sequence[Relation] = ()
) -> list[ColumnValues]:
    """The columns of roles whose values count: sensitive attributes, and persons. `others` may have columns of the same
    names (a population, another release), whose values count with these."""
    persons = () if roles.entity is None else (roles.entity,)
    found = []
    for one in (*roles.sensitive, *persons):
        there = ((other, find_column(one.label, other)) for other in others)
        places = [
            (other, Resolved(one.label, quote(column.name, dialect), column.kind, column.name, column.type))
            for other, column in there
            if column is not None
        ]
        found.append(ColumnValues(one.label, ((relation, one), *places), one is not roles.entity))
    return found


def fold(sql: str, dialect: str, *, missing: bool) -> str:
    """The SQL of a text in one spelling.

    Args:
        sql: the text as it is written, in this dialect. missing: whether a text without a visible character is NULL.
    """
    return expression(
        "classes/folded.sql",
        dialect,
        value=Raw(sql),
        plain=f"^[!-~]+( [!-~]+)*{_ENDS[dialect]}",
        wide=_class("ff00-ffef", dialect),
        unseen=_class(_WITH_NUL[dialect] + UNSEEN, dialect) + "+",
        blanks=_class(BLANKS, dialect) + "+",
        whole="".join(_WIDE),
        narrow="".join(_WIDE.values()).replace("'", "''"),
        odd=_ODD,
        even=_EVEN,
        missing=missing,
    )


def _class(ranges: str, dialect: str) -> str:
    """Ranges of code points as a class of a regular expression."""
    escaped: Callable[[int], str] = _ESCAPES.get(dialect, lambda code: f"\\x{{{code:X}}}")
    pairs = [one.partition("-") for one in ranges.split()]
    return "[" + "".join(escaped(int(a, 16)) + (f"-{escaped(int(b, 16))}" if b else "") for a, _, b in pairs) + "]"


def settled(engine: Engine, relation: Relation, one: V, values: Folding | None, *, missing: bool = True) -> V:
    """A column as its values count: folded where that was asked for, else as it is.

    Raises:
        UsageError: it is to be folded, and holds several values in one.
    """
    if values is not Folding.FOLD:
        return one
    kind, type_name = _held(engine, relation, one)
    if not _is_text(kind, type_name):
        return one
    if _is_nested(kind, type_name):
        raise UsageError(_nested(one.sql, type_name))
    sql = fold(one.sql, engine.dialect, missing=missing)
    return cast("V", replace(cast("Any", one), sql=sql, kind=Kind.TEXT, type=type_name))


def settled_column(engine: Engine, relation: Relation, entity: Resolved, values: Folding | None) -> Resolved | None:
    """What names persons in another table: the column of the same name, as it counts; None where there is none."""
    found = find_column(entity.label, relation)
    if found is None:
        return None
    column = Resolved(entity.label, quote(found.name, engine.dialect), found.kind, found.name, found.type)
    return settled(engine, relation, column, values, missing=False)


def merged(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> dict[str, str]:
    """A sentence for each column of which it has to be said whether some of its values are one, by its name."""
    found = ((column.name, _merged(engine, column, values)) for column in columns)
    return {name: sentence for name, sentence in found if sentence}


def refuse_merged(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> None:
    """Nothing where no two values of a column are spellings of one, or it was said what they are.

    Raises:
        UsageError: some are; it says how many.
    """
    for sentence in merged(engine, columns, values).values():
        raise UsageError(sentence)


def merged_statements(engine: Engine, columns: Iterable[ColumnValues], values: Folding | None) -> list[Statement]:
    """What `merged` runs."""
    asked = (_asked(engine, column, values) for column in columns)
    return [one for one in asked if isinstance(one, Statement)]


def merged_statement(column: ColumnValues, dialect: str, *, nested: bool = False) -> Statement:
    """How many values of a column have several spellings, whether this can be said, and whether any holds several."""
    return render(
        "classes/merged.sql",
        dialect,
        step=f"spellings of {column.name}",
        folded=Raw(fold("value", dialect, missing=column.missing)),
        places=[{"source": Raw(relation.sql), "value": Raw(one.sql)} for relation, one in column.places],
        unsure=_UNSURE.get(dialect, "").format(_class(_COMBINING, dialect)[1:-1]),
        missing=column.missing,
        nested=nested,
    )


def _asked(engine: Engine, column: ColumnValues, values: Folding | None) -> Statement | str | None:
    """What counts the spellings of a column, or why it is not asked; None where none can have several."""
    if values is Folding.EXACT or (values is Folding.FOLD and engine.dialect not in _UNSURE):
        return None
    held = [_held(engine, relation, one) for relation, one in column.places]
    nested = next((type_name for kind, type_name in held if _is_nested(kind, type_name)), "")
    if nested:
        return _nested(column.name, nested)
    texts = [place for place, one in zip(column.places, held, strict=True) if _is_text(*one)]
    unknown = any(kind is Kind.OTHER and not name.lower().startswith("enum") for kind, name in held)
    return merged_statement(replace(column, places=texts), engine.dialect, nested=unknown) if texts else None


def _merged(engine: Engine, column: ColumnValues, values: Folding | None) -> str:
    """What has to be said of a column; empty where nothing has."""
    asked = _asked(engine, column, values)
    if not isinstance(asked, Statement):
        return asked or ""
    number, unsure, nested = (int(count) for count in engine.run(asked)[0])
    if nested:
        return _nested(column.name, "texts in brackets")
    exact, folded = spelled("values", "exact"), spelled("values", "fold")
    if values is Folding.FOLD:
        said = f"{engine.name} cannot fold {column.name}: it has letters beyond ASCII with several spellings."
        return f"{said} Use one spelling first, or count each spelling with {exact}." if unsure else ""
    if not number:
        return ""
    what = plural(number, "value") if column.missing else plural(number, "person", "people")
    verb = "may be" if unsure else "is" if number == 1 else "are"
    apart = "case, blanks, width or invisible characters" + (", or are NULL and ''" if column.missing else "")
    return (
        f"{what} in column {column.name} {verb} written in several ways, which differ only in {apart}. Choose whether "
        f"they are one with {folded}, or different with {exact}."
    )


def _held(engine: Engine, relation: Relation, one: Valued) -> tuple[Kind, str]:
    """What a column or expression holds; the engine is asked about expressions."""
    if one.type:
        return one.kind, one.type
    probe = render("hierarchies/hierarchy_probe.sql", engine.dialect, value=Raw(one.sql), source=Raw(relation.sql))
    (found,) = engine.result_columns(probe)
    return found.kind, found.type


def _is_text(kind: Kind, type_name: str) -> bool:
    """Whether values may be texts, or hold some."""
    low = type_name.lower()
    if kind is not Kind.OTHER:
        return kind is Kind.TEXT
    return not (_OF_NUMBERS.fullmatch(low) or (_PLAIN_TYPES.match(low) and "[" not in low))


def _is_nested(kind: Kind, type_name: str) -> bool:
    """Whether a value may hold several texts."""
    low = type_name.lower()
    return kind is Kind.OTHER and bool(_NESTED.match(low)) and not _OF_NUMBERS.fullmatch(low)


def _nested(name: str, type_name: str) -> str:
    return (
        f"{name} may have several texts in one value ({type_name}), which cannot be folded. Name an expression of one "
        f"text, or count each spelling with {spelled('values', 'exact')}."
    )


# One copy of the columns that matter, where every reading would parse text again.

COPY = "sqlaudit_rows"


def loaded(
    engine: Engine, relation: Relation, roles: list[Resolved], name: str = COPY
) -> tuple[Relation, list[Resolved]]:
    """The relation and the roles' columns, copied for the session when the engine would parse the text at each reading.

    The copy holds the named columns and expressions alone, lives in the engine's own memory (or its encrypted spill
    files) and goes with the session. `name` is what the copy is called: of several tables each needs its own.
    """
    if not relation.parsed or not engine.can_materialize or not roles:
        return relation, roles
    expressions = list(dict.fromkeys(role.sql for role in roles))
    statement = render(
        "classes/copy_columns.sql",
        engine.dialect,
        step="read the columns",
        source=Raw(relation.sql),
        columns=[Raw(sql) for sql in expressions],
    )
    kept = engine.materialize(name, statement)
    place = {sql: quote(f"c{position}", engine.dialect) for position, sql in enumerate(expressions, 1)}
    return replace(relation, sql=kept.sql, parsed=False), [replace(role, sql=place[role.sql]) for role in roles]


# What every command over equivalence classes begins with: roles found in the table, and its sensitive attributes.

_HASHED = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
MAX_VALUES_READ = 10_000
"""Up to this many sensitive values the table's totals are read into Python."""


@dataclass(frozen=True)
class ResolvedRoles:
    """The roles with their SQL."""

    quasi_identifiers: tuple[Resolved, ...]
    sensitive: tuple[Resolved, ...]
    identifiers: tuple[Resolved, ...]
    entity: Resolved | None
    weights: Resolved | None = None

    @property
    def not_published_as_they_are(self) -> tuple[Resolved, ...]:
        """The roles whose columns are rewritten in a release, or are not in it at all."""
        return (*self.quasi_identifiers, *self.identifiers, *((self.entity,) if self.entity else ()))

    @property
    def published_as_they_are(self) -> tuple[Resolved, ...]:
        """The roles whose columns a release holds unchanged."""
        return (*self.sensitive, *((self.weights,) if self.weights else ()))


def resolve_roles(roles: Roles, relation: Relation, engine: Engine) -> ResolvedRoles:
    """Every role's columns found in the relation; persons and sensitive values folded where that was asked for.

    Raises:
        UsageError: a column that is not there, or two names for one column.
    """
    options = {
        "quasi-identifier": about("qi"),
        "sensitive attribute": about("sensitive"),
        "direct identifier": about("identifier"),
        "entity": about("entity"),
        "sampling weights": about("weights"),
    }
    found = {
        role: tuple(resolve(name, relation, engine.dialect, options[role]) for name in names)
        for role, names in roles.by_role().items()
    }
    repeated = [sql for sql, times in Counter(r.sql for group in found.values() for r in group).items() if times > 1]
    if repeated:
        raise UsageError(f"Column {repeated[0]} is named more than once. Give every column one role.")
    for role in ("quasi-identifier", "sensitive attribute", "entity", "sampling weights"):
        is_key = role == "quasi-identifier"
        found[role] = tuple(_without_codes(column, relation, engine.dialect, is_key) for column in found[role])
    entity, weights = (found[role][0] if found[role] else None for role in ("entity", "sampling weights"))
    values = [settled(engine, relation, one, roles.values) for one in found["sensitive attribute"]]
    if entity is not None:
        entity = settled(engine, relation, entity, roles.values, missing=False)
    return ResolvedRoles(found["quasi-identifier"], tuple(values), found["direct identifier"], entity, weights)


def _without_codes(role: Resolved, relation: Relation, dialect: str, is_key: bool) -> Resolved:
    """Return the column with its codes for missing values as NULL: none of them is a sensitive value, or a person.

    Args:
        is_key: whether it is a quasi-identifier, which keeps its codes. Expressions of it take codes that are numbers.

    Raises:
        UsageError: an expression over such a column.
    """
    types = {column.name: column.type for column in relation.columns}
    codes = {each.column: each for each in relation.missing if not is_key or each.type != types[each.column]}
    read = columns_read(role, relation, dialect) & codes.keys() if codes else set()
    if not read or (is_key and role.column is not None):
        return role
    if role.column is None:
        raise UsageError(
            f"{role.label} reads {min(read)!r}, which has codes for missing values. Name the column itself, or "
            f"the codes with {spelled('null_values')}."
        )
    column = codes[role.column]
    return replace(role, sql=column.sql, type=column.type, kind=column.kind)


def open_for_release(engine: Engine, target: Target, roles: Roles) -> Relation:
    """Open a table that is rewritten. A release does not declare codes for missing values.

    Raises:
        UsageError: a column that is no quasi-identifier has some: readers of the release would take them for values.
    """
    relation = engine.open(target)
    if not relation.missing:
        return relation
    names = [resolve(name, relation, engine.dialect, about("qi")) for name in roles.quasi_identifiers]
    keys = {column for role in names for column in columns_read(role, relation, engine.dialect)}
    coded = next((each.column for each in relation.missing if each.column not in keys), None)
    if coded is not None:
        raise UsageError(
            f"Column {coded!r} of {relation.label!r} has codes for missing values, which a release does not declare. "
            f"Name the codes to read as missing with {spelled('null_values')}."
        )
    return relation


def load_columns(engine: Engine, relation: Relation, roles: ResolvedRoles) -> tuple[Relation, ResolvedRoles]:
    """The relation's columns kept for the session when reading them again would parse them again."""
    of_rows = [role for role in (roles.entity, roles.weights) if role is not None]
    relation, found = loaded(engine, relation, [*roles.quasi_identifiers, *roles.sensitive, *of_rows])
    keys, values = len(roles.quasi_identifiers), len(roles.sensitive)
    rest = found[keys + values :]
    return relation, replace(
        roles,
        quasi_identifiers=tuple(found[:keys]),
        sensitive=tuple(found[keys : keys + values]),
        entity=rest[0] if roles.entity else None,
        weights=rest[-1] if roles.weights else None,
    )


@dataclass(frozen=True)
class OpenedTable:
    """A table that is open, with what every command over equivalence classes needs of it.

    Args:
        engine: the engine that reads it.
        given: the roles as they were named.
        relation: what is read: the table, or the copy of those of its columns that have a role.
        roles: the roles with their SQL over that.
        published: the table with all of its columns, which was not copied.
        published_roles: the roles with their SQL over that.
        inputs: further inputs of models by name, read.
        population: the population table, if the inputs name one.
    """

    engine: Engine
    given: Roles
    relation: Relation
    roles: ResolvedRoles
    published: Relation
    published_roles: ResolvedRoles
    inputs: Mapping[str, Any]
    population: Relation | None = None

    def copied(self) -> OpenedTable:
        """Return the table with its columns copied where reading them again would parse them again."""
        relation, roles = load_columns(self.engine, self.relation, self.roles)
        return replace(self, relation=relation, roles=roles)

    def frame(self, attribute: Resolved | None = None) -> Frame:
        """Return the table as the histogram of one sensitive attribute sees it."""
        return frame_of(self.relation, self.roles, attribute, self.given)

    def histogram_builder(self, attribute: Resolved | None = None, position: int = 0) -> HistogramBuilder:
        """Return what counts the classes of one sensitive attribute, which is the one at this position."""
        return HistogramBuilder(self.engine, self.frame(attribute), self.given.nulls, position)

    def spelling_conflicts(self) -> dict[str, str]:
        """Return a sentence for each column of which it has to be said whether some of its values are one, by name."""
        return merged(self.engine, self._valued(), self.given.values)

    def refuse_spelling_conflicts(self) -> None:
        """Raise UsageError if some values may be spellings of one, and nobody said whether they are."""
        refuse_merged(self.engine, self._valued(), self.given.values)

    def spelling_statements(self) -> list[Statement]:
        """Return the statements of `spelling_conflicts`."""
        return merged_statements(self.engine, self._valued(), self.given.values)

    def _valued(self) -> list[ColumnValues]:
        others = () if self.population is None else (self.population,)
        return values_of(self.relation, self.roles, self.engine.dialect, others)


def open_table(
    engine: Engine,
    target: Target | Relation,
    roles: Roles,
    inputs: Mapping[str, Any] | None = None,
    *,
    population: Relation | Target | None = None,
) -> OpenedTable:
    """Open a table, find its roles and read the inputs.

    Args:
        engine: an open engine.
        target: the table, or what it was opened as.
        roles: of its columns.
        inputs: further inputs of models.
        population: the population table, opened already, or the audited table as whose neighbour the one that the
            inputs name is read; None = none is opened.

    Raises:
        UsageError: a column that is not there, two names for one, or inputs that may belong to several attributes.
        EngineError: the database refused or failed.
    """
    relation = engine.open(target) if isinstance(target, Target) else target
    resolved = resolve_roles(roles, relation, engine)
    read = read_inputs(inputs or {})
    refuse_unclear(read, [attribute.label for attribute in resolved.sensitive])
    if isinstance(population, Target):
        population = engine.open(population_target(read, population)) if "population" in read else None
    return OpenedTable(engine, roles, relation, resolved, relation, resolved, read, population)


def sensitive_table(builder: HistogramBuilder, attribute: Resolved | None) -> tuple[SensitiveTable | None, int]:
    """The sensitive attribute over the whole table (None without one), and how many of its rows are NULL.

    Raises:
        UsageError: rows without an entity, or more values than are read.
    """
    if attribute is None:
        if builder.frame.entity is not None:
            _refuse_missing_entities(builder.shape(None)[3], builder)
        return None, 0
    text = attribute.collated
    found = builder.values(attribute.sql, text, MAX_VALUES_READ + 1)
    if len(found) > MAX_VALUES_READ:
        distinct, _, _, without_entity = builder.shape(attribute.sql)
        _refuse_missing_entities(without_entity, builder)
        raise UsageError(
            f"{attribute.label} has {distinct:,} different values; the limit for a sensitive column is "
            f"{MAX_VALUES_READ:,}. Round or group it first."
        )
    _refuse_missing_entities(sum(int(row[3]) for row in found), builder)
    values, totals = tuple(row[0] for row in found), tuple(int(row[1]) for row in found)
    nulls = sum(int(row[2]) for row in found)
    table = SensitiveTable(attribute.label, totals, nulls > 0, attribute.kind.has_natural_order, text, values)
    return table, nulls


def frame_of(relation: Relation, roles: ResolvedRoles, attribute: Resolved | None, given: Roles) -> Frame:
    """The relation as the histogram of one sensitive attribute sees it."""
    keys = [q.sql for q in roles.quasi_identifiers]
    if given.joint and attribute is not None:
        keys += [other.sql for other in roles.sensitive if other != attribute]
    entity = roles.entity.sql if roles.entity else None
    hashed = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.column and q.kind in _HASHED}
    whole = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.column and q.kind is Kind.INTEGER}
    collated = {q.sql for q in (*roles.quasi_identifiers, *roles.sensitive) if q.collated}
    return Frame(
        relation.sql,
        tuple(keys),
        entity,
        given.nulls is NullPolicy.DISTINCT,
        tuple(key in collated for key in keys),
        attribute.sql if attribute else None,
        roles.weights.sql if roles.weights else None,
        tuple(key in hashed for key in keys),
        tuple(key in whole for key in keys),
        roles.entity.label if roles.entity else "",
    )


def key_labels(roles: ResolvedRoles, attribute: Resolved | None, frame: Frame) -> list[str]:
    """What the user calls the columns of the class key, in their order."""
    called = {role.sql: role.label for role in (*roles.quasi_identifiers, *roles.sensitive) if role != attribute}
    return [called[key] for key in frame.keys]


def _refuse_missing_entities(rows: int, builder: HistogramBuilder) -> None:
    if rows:
        entity = builder.frame.entity_label or "of persons"
        raise UsageError(
            f"{plural(rows, 'row has', 'rows have')} no value in the entity column {entity}. Leave them out with "
            f"{spelled('where', f'{entity} IS NOT NULL')}, or fill them."
        )


def shown_roles(roles: Roles) -> dict[str, Any]:
    """The roles as they were given, for results."""
    sampling = roles.sampling
    fraction = None if sampling.sampling_fraction is None else float(sampling.sampling_fraction)
    said = {"sampling_fraction": fraction, "population_size": sampling.population_size, "weights": sampling.weights}
    return {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "identifiers": list(roles.identifiers),
        "entity": roles.entity,
        "joint": roles.joint,
        "nulls": roles.nulls.value,
        **{name: value for name, value in said.items() if value is not None},
        **({} if roles.known_rows is KnownRows.WORSE else {"known_rows": roles.known_rows.value}),
        **({} if roles.values is None else {"values": roles.values.value}),
    }
