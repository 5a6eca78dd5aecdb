"""What all results share: numbers, statuses, warnings, where they come from, and how fields become JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from enum import Enum, StrEnum
from fractions import Fraction
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict, TypeVar

from sqlaudit.base.frozen import dataclass

# Results as JSON documents: a dataclass is told by its fields, in their order, each under its name.
#
# What differs stands at the field, as its metadata: `field(metadata=key("target.rows") | OR_NULL)`. What is no field
# is a property or method under `told`.

Told = dict[str, Any]
Method = TypeVar("Method", bound=Callable[[Any], Any])
MAX_DIGITS = 1000
"""A fraction with more digits than this above or below the line is told as a float only."""


def key(name: str) -> Told:
    """The field stands under another key; `target.rows` is the key `rows` of an object `target`."""
    return {"key": name}


def after(name: str) -> Told:
    """The field stands behind this one."""
    return {"after": name}


def shown(change: Callable[[Any], Any]) -> Told:
    """Return the metadata of a field that the document has as `change` makes it."""
    return {"shown": change}


def objects(*names: str) -> Told:
    """The field holds tuples, or is a mapping; each tuple or item is told as an object with these keys."""

    def told_so(found: Any) -> list[dict[str, Any]]:
        tuples = found.items() if isinstance(found, Mapping) else found
        return [dict(zip(names, one, strict=True)) for one in tuples]

    return {"objects": names} | shown(told_so)


def exactly(name: str) -> Told:
    """The field is told as a float, and beside it under this key as an exact fraction."""
    return AS_FLOAT | {"exact": name}


def as_float(value: Any) -> Any:
    """Numbers as floats, whole ones too; also inside sequences and mappings. What is missing stays None."""
    return _throughout(float, value)


def as_text(value: Any) -> Any:
    """Values as texts, also inside sequences and mappings; what is missing stays None."""
    return _throughout(str, value)


def _throughout(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _throughout(change, one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_throughout(change, one) for one in value]
    return None if value is None else change(value)


def exact_text(value: Fraction) -> str | None:
    """A fraction as text, for instance `2/5`; None beyond `MAX_DIGITS` digits."""
    longest = 10**MAX_DIGITS
    return str(value) if value.numerator < longest and value.denominator < longest else None


LEFT_OUT: Told = {"left_out": True}
"""The field is not in the document."""
LAST: Told = {"last": True}
"""The field stands behind all others, those of derived classes too."""
HERE: Told = {"here": True}
"""The keys of the field's own document stand in its place."""
IF_ANY: Told = {"if_any": True}
"""The key is there only when there is something to tell."""
OR_NULL: Told = shown(lambda value: value or None)
"""What is empty is null."""
AS_FLOAT: Told = shown(as_float)
AS_TEXT: Told = shown(as_text)


def told(behind: str, metadata: Told | None = None) -> Callable[[Method], Method]:
    """A property or method that is part of the document, behind that field or method; first behind nothing."""

    def mark(method: Method) -> Method:
        method.__dict__["_told"] = after(behind) | (metadata or {})
        return method

    return mark


def json_schema(**keywords: Any) -> tuple[tuple[str, Any], ...]:
    """For an annotation, as `Annotated[int, json_schema(minimum=2)]`: what the JSON Schema says besides the type."""
    return tuple(keywords.items())


FROM_1 = json_schema(minimum=1)
FROM_0_TO_1 = json_schema(minimum=0, maximum=1)
BELOW_ONE = json_schema(minimum=0, exclusiveMaximum=1)
FROM_0 = json_schema(minimum=0)
ANY_NUMBER = json_schema(minimum=None)
NOT_EMPTY = json_schema(minItems=1)


class Documented:
    """A dataclass with a JSON document. `docs/make_schemas.py` makes its JSON Schema from the same fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The document, as the JSON schema has it."""
        out: dict[str, Any] = {}
        kind: Any = type(self)
        for part in parts_of(kind):
            part.tell(self, out)
        return out


def plain(value: Any) -> Any:
    """A value as JSON knows it: fractions become floats (integers when whole), infinity and NaN become null.

    Results become their documents. Values that JSON has no type for (decimals, dates, identifiers, bytes) become text.
    """
    if isinstance(value, Documented):
        return value.to_dict()
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool | str):
        return value
    return _plain_number(value) if isinstance(value, Real) else _plain_text(value)


def _plain_number(value: Real) -> int | float | None:
    if isinstance(value, Integral) or (isinstance(value, Fraction) and value.denominator == 1):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _plain_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


@dataclass(frozen=True)
class DocumentPart:
    """What one field or method adds to a document."""

    name: str
    how: Mapping[str, Any]

    def tell(self, result: object, out: dict[str, Any]) -> None:
        """Put it into the document so far."""
        found = getattr(result, self.name)
        value = found() if self.how.get("call") else found
        shown_as = plain(self.how["shown"](value) if "shown" in self.how else value)
        if self.how.get("here"):
            out |= shown_as
        elif shown_as or not self.how.get("if_any"):
            self._put(out, self.how.get("key", self.name), shown_as)
            if "exact" in self.how:
                self._put(out, self.how["exact"], exact_text(value))

    @staticmethod
    def _put(out: dict[str, Any], path: str, value: Any) -> None:
        *outer, last = path.split(".")
        for name in outer:
            out = out.setdefault(name, {})
        out[last] = value


@cache
def parts_of(kind: Any) -> tuple[DocumentPart, ...]:
    """Return the fields and methods that make the document of a class, in order."""
    own = [DocumentPart(one.name, one.metadata) for one in fields(kind) if not one.name.startswith("_")]
    own = sorted((part for part in own if "left_out" not in part.how), key=lambda part: "last" in part.how)
    parts = [part for part in own if "after" not in part.how]
    waiting = [*(part for part in own if "after" in part.how), *_computed(kind)]
    while waiting:
        names = ["", *(part.name for part in parts)]
        part = next(part for part in waiting if part.how["after"] in names)
        parts.insert(names.index(part.how["after"]), part)
        waiting.remove(part)
    return tuple(parts)


def _computed(kind: type) -> Iterator[DocumentPart]:
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items():
            method = getattr(member, "fget", None) or getattr(member, "func", member)
            if how := getattr(method, "_told", None):
                yield DocumentPart(name, how | {"call": method is member})


Number = int | float | Fraction
Severity = Annotated[str, Literal["error", "warn"]]
Operator = Annotated[str, Literal[">=", "<=", "<", ">"]]
Nulls = Annotated[str, Literal["equal", "distinct", "wildcard"]]
Code = Annotated[str, json_schema(pattern="^[a-z][a-z0-9_]*$")]
"""A stable word for programs."""


class Status(StrEnum):
    """The verdict on one check, or on the whole audit."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Warned(Documented):
    """Something a reader should know.

    Args:
        code: a stable code. columns: the columns concerned. message: a sentence without a value of the table.
        hint: the end of the message with advice on commands; a page has it elsewhere.
    """

    code: Code
    columns: tuple[str, ...]
    message: str
    hint: str = field(default="", metadata=LEFT_OUT, compare=False, repr=False)

    @property
    def fact(self) -> str:
        """The message without what speaks of commands."""
        return self.message.removesuffix(self.hint).rstrip() if self.hint else self.message


MISSING_VALUES = "missing_sensitive_values"
UNDER_VERDICT = (
    "loosened_requirement",
    "new_column",
    "published_table",
    "possible_direct_identifier",
    "identifier_in_text",
    "all_different_column",
    "possible_quasi_identifier",
    "unreadable_columns",
    "empty_quasi_identifier",
    "several_combinations",
    "one_combination",
    "selected_rows",
    MISSING_VALUES,
    "read_by_expressions",
    "columns_without_role",
)
"""The codes of notices directly under a verdict: what it does not cover, worst first."""
_ONLY_SAID = ("one_combination", "selected_rows", MISSING_VALUES, "read_by_expressions", "columns_without_role")


def under_verdict(warnings: Sequence[Warned]) -> tuple[Warned, ...]:
    """The warnings that stand directly under a verdict, worst first. A declared identifier is a check of its own."""
    found = [warned for warned in warnings if warned.code in UNDER_VERDICT]
    return tuple(sorted(found, key=lambda warned: UNDER_VERDICT.index(warned.code)))


def is_note(warned: Warned) -> bool:
    """Return True if a warning only describes what a verdict is about."""
    return warned.code in _ONLY_SAID


@dataclass(frozen=True)
class Timing(Documented):
    """A statement that ran.

    Args:
        name: the step. seconds: None when it was only planned. sql: its text, which holds no cell value.
    """

    name: str
    seconds: Annotated[float, FROM_0] | None
    sql: str = field(default="", repr=False, metadata=LEFT_OUT)


BY_PLACE = ("target", "messages", "original", "release", "targets")
_READING = (*BY_PLACE, "name", "names", "query", "where", "db", "read")
"""Parameters that say what is read, and how."""


@dataclass(frozen=True)
class PythonCall:
    """A call of a public function, with the source of its arguments by parameter."""

    function: str
    arguments: Mapping[str, str]
    then: str = ""
    """A method of the result that is called, such as `.by_criteria()`."""

    def __str__(self) -> str:
        return f"sqlaudit.{self.function}({_listed(self.arguments)}){self.then}"

    def on_the_same(self, proposed: str) -> str:
        """Return a proposed call, in which … stands for the table, with what this call reads."""
        reading = {name: text for name, text in self.arguments.items() if name in _READING}
        return proposed.replace("(…", f"({_listed(reading)}", 1)


def _listed(arguments: Mapping[str, str]) -> str:
    return ", ".join(text if name in BY_PLACE else f"{name}={text}" for name, text in arguments.items())


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Documented):
    """What a command found: which document it makes, and in which versions and when it was made.

    Args:
        versions: what computed the result: the version of sqlaudit and of the engine.
        time: when it ended, ISO 8601 in UTC.
        call: the call in Python that returned it; None of a command.
    """

    schema: ClassVar[str]

    versions: Annotated[Mapping[str, str], json_schema(required=("sqlaudit",))] = field(default_factory=dict)
    time: Annotated[str, json_schema(format="date-time")] = ""
    call: PythonCall | None = field(default=None, compare=False, repr=False, metadata=LEFT_OUT)

    @told("", key("schema"))
    def _schema(self) -> str:
        return self.schema


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredResult(Result):
    """What statements over one connection found: how it was read, and what ran.

    Args:
        access: as whom the database was asked, and that it was only read.
        remarks: how the tables were read: a condition that selected rows, a header or dates that were guessed.
        statements: what ran in the database, in order.
    """

    access: str = ""
    remarks: tuple[Warned, ...] = field(default=(), metadata=LAST)
    statements: tuple[Timing, ...] = field(default=(), repr=False, metadata=LAST)

    @property
    @told("remarks")
    def selected_rows(self) -> bool:
        """True if only rows that meet a condition (`where`) were read."""
        return any(one.code == "selected_rows" for one in self.remarks)


class GivenRoles(TypedDict):
    """The roles of columns as they were given.

    Args:
        known_rows: only when it was narrowed: how many rows of a person somebody knows for whom is judged.
        values: only when it was said: whether persons and sensitive values that folding merges are one.
        sampling_fraction: where it was said: the table's share of its population.
        population_size: where it was said: the people of the population.
        weights: where it was said: the column of the people that a row stands for.
    """

    quasi_identifiers: list[str]
    sensitive: list[str]
    identifiers: list[str]
    entity: str | None
    joint: bool
    nulls: Literal["equal", "distinct", "wildcard"]
    sampling_fraction: NotRequired[float]
    population_size: NotRequired[int]
    weights: NotRequired[str]
    known_rows: NotRequired[Literal["one", "all"]]
    values: NotRequired[Literal["fold", "exact"]]


ShownRoles = Annotated[Mapping[str, Any], GivenRoles]


MEANING = "A verdict covers the named requirements and nothing else (sqlaudit help verdicts)."
"""The last sentence of every report with a verdict."""
