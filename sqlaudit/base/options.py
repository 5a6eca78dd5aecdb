"""Options are written once, as fields of requests; errors on wrong types name the parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields
from enum import StrEnum
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest, typed, untyped
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.parameter_names import about, spelled

# An option is written once: as a field of a request, with its reader, bounds, name and help.
#
# The command line makes options from these fields, and every edge makes the request from what it was given, with the
# same checks: `request_from`.

T = TypeVar("T")
Given = Mapping[str, Any]
"""What an edge was given for the options of a request, by parameter."""
Make = Callable[[Given, str], Any]
"""Makes the value of a field from what was given and the name of its option."""
_OPTION, _PART = "option", "part"
REQUIRED = inspect.Parameter.empty
"""The default of a required parameter."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SPELLED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
MOST_SECONDS = 2_000_000
"""Longest time limit, some 23 days: PostgreSQL and threads count no further."""


@dataclass(frozen=True)
class OptionKind:
    """What an option takes.

    Args:
        name: how the command line knows it. read: the value of the field, from its name and what was given; None stays.
        words: the words that may be given, when only some may. python: the type of a function's parameter.
    """

    name: str
    read: Callable[[str, Any], Any]
    words: tuple[str, ...] = ()
    python: str = "str"


def split_list(text: str, option: str = "names") -> tuple[str, ...]:
    """The items of a list at top-level commas: not inside parentheses, brackets or quotes.

    A name in double quotes is taken as it stands between them, with escapes such as `\\n` (a doubled quote is one), so
    that a column whose name holds a comma can be named; quotes inside an expression stay for SQL.

    Raises:
        UsageError: a quote or parenthesis is left open, or an item is empty.

    Example:
        >>> split_list('age, substr(zip, 1, 3),"last, first"')
        ('age', 'substr(zip, 1, 3)', 'last, first')
    """
    items = [item.strip() for item in _pieces(text, option)]
    if not all(items):
        raise UsageError(f"{option} {text!r} has an empty name. Separate names by commas.")
    return tuple(untyped(item) for item in items)


def _pieces(text: str, option: str) -> list[str]:
    """Split a list at its commas, except for those in quotes or brackets.

    Raises:
        UsageError: a quote or bracket is not closed.
    """
    pieces, current, open_brackets, quote = [], "", list[str](), ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'`":
            quote = character
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif character == "," and not open_brackets:
            pieces.append(current)
            current = ""
            continue
        current += character
    if quote or open_brackets:
        raise UsageError(f"{option} {text!r}: {quote or open_brackets[-1]} is not closed. Close it, or quote the name.")
    return [*pieces, current]


def written(name: str) -> str:
    """Return a column or expression as reports write it: in quotes where a list of names would read something else.

    Example:
        >>> written("substr(zip, 1, 3)"), written("last, first"), written(" zip")
        ('substr(zip, 1, 3)', '"last, first"', '" zip"')
    """
    try:
        is_item = name.isprintable() and split_list(name) == (name,)
    except UsageError:
        is_item = False
    return name if is_item else typed(name)


def several(names: Iterable[str] | str, option: str = "names") -> tuple[str, ...]:
    """Names as Python gives them: several, or a text, which has one or more, as on the command line.

    Raises:
        UsageError: a text that is no list of names.

    Example:
        >>> several("age,substr(zip, 1, 3)"), several(["last, first"])
        (('age', 'substr(zip, 1, 3)'), ('last, first',))
    """
    if isinstance(names, str):
        return split_list(names, option) if "," in names else (names,)
    return tuple(names)


def _in_words(words: Iterable[str]) -> str:
    """Return the words with commas between them; signs are in quotes."""
    return ", ".join(word if word[:1].isalnum() else f"'{word}'" for word in words)


def _as_it_is(_: str, value: object) -> object:
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{spelled(name)} takes texts{_type_of(value)}.")
    return texts


def _seconds(name: str, value: object) -> float:
    number: float = _of(Real, "a number of seconds")(name, value)
    if not 0 <= number <= MOST_SECONDS:
        bound = f"at most {MOST_SECONDS:,} seconds" if number > 0 else "0 seconds or more"
        raise OutOfRange(f"{spelled(name)} must be a time of {bound}, not {value}.")
    return number


def _delimiter(name: str, value: object) -> str:
    character = _SPELLED_DELIMITERS.get(value.lower(), value) if isinstance(value, str) else ""
    if len(character) != 1 and value != "":
        raise UsageError(f"{spelled(name)} takes one character, or tab.")
    return character


def _names(name: str, value: object) -> tuple[str, ...]:
    names = several(value, about(name)) if isinstance(value, Iterable) and not isinstance(value, Mapping) else (None,)
    if not all(isinstance(value_name, str) for value_name in names):
        raise UsageError(
            f"{spelled(name)} takes names, as a list of texts or one text such as 'age,sex'{_type_of(value)}."
        )
    return tuple(str(value_name) for value_name in names)


def _of(kind: type, words: str) -> Callable[[str, object], Any]:
    """A reader that takes values of one type alone."""

    def read(name: str, value: object) -> object:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UsageError(f"{spelled(name)} takes {words}{_type_of(value)}.")
        return value

    return read


def _flag(name: str, value: Any) -> Any:
    """Read True or False, which numpy has as a type of its own, called `bool` or `bool_`."""
    is_boolean = type(value).__name__ in ("bool", "bool_")
    return bool(value) if is_boolean else _of(bool, "True or False")(name, value)


def _type_of(value: Any) -> str:
    """Return what was given instead: its type, as a value may be what no one should read."""
    foreign = (
        next((element for element in value if not isinstance(element, str)), None)
        if isinstance(value, list | tuple)
        else None
    )
    inner_type = f" with a value of type {type(foreign).__name__}" if foreign is not None else ""
    return f", not a value of type {type(value).__name__}{inner_type}"


def _exactly(read: Callable[[Any], Fraction], words: str) -> Callable[[str, object], Fraction]:
    """A reader of exact numbers."""

    def exact(name: str, value: object) -> Fraction:
        try:
            return read(value)
        except UsageError:
            raise UsageError(f"{spelled(name)} {words}, not {str(value)[:60]!r}.") from None

    return exact


def _weights(name: str, value: Mapping[str, Any]) -> dict[str, Fraction]:
    try:
        return {column: exact_share(weight) for column, weight in value.items()}
    except UsageError as error:
        raise UsageError(f"{spelled(name)} takes a number for a column. {error}") from None


def _levels(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(level, str | int) for level in value.values()):
        raise UsageError(f"{spelled(name)} takes the name or number of a level for a column, as {{'age': '5 years'}}.")
    return {str(column): str(level) for column, level in value.items()}


_ANY_NUMBER = "int | float | str | Fraction"
_LIST = "Sequence[str] | str"
FLAG = OptionKind("flag", _flag, python="bool")
SWITCH = OptionKind("switch", _flag, python="bool")
"""True, False, or not given."""
WHOLE = OptionKind("whole", _of(Integral, "a whole number"), python="int")
"""A whole number."""
MOST = OptionKind("most", _of(Integral, "a whole number"), python="int")
"""A whole number, or `all`."""
SHARE = OptionKind("share", _exactly(exact_share, "takes a share such as 0.01 or 1%"), python="Share")
NUMBER = OptionKind("number", _exactly(exact_number, "takes a number, for example 0.5"), python=_ANY_NUMBER)
NOT_NEGATIVE = OptionKind(
    "number", _exactly(exact_number, "takes a number of at least 0, for example 0.5"), python=_ANY_NUMBER
)
SECONDS = OptionKind("seconds", _seconds, python="float")
MEMORY = OptionKind("memory", _of(str, "a text such as '4GB'"))
RANGE = OptionKind("range", _of(Integral, "a whole number"), python="int")
"""A whole number whose bounds are on the help page."""
TEXT = OptionKind("text", _of(str, "a text"))
DATABASE = OptionKind("text", _of(str, "a text"))
"""A text that may hold a password, and is never shown."""
TEXTS = OptionKind("texts", _texts, python="Sequence[str]")
DELIMITER = OptionKind("delimiter", _delimiter)
VIEW = OptionKind("view", _as_it_is)
"""The name of a view, which the command line takes when it is not empty."""
COLUMN = OptionKind("column", _of(str, "the name of one column, as a text"))
"""One column."""
CONDITION = OptionKind("column", _of(str, "a SQL condition, as a text"))
"""A condition, which may have values of the table, and is never shown."""
NAMES = OptionKind("names", _names, python=_LIST)
"""Columns, or other names."""
QUERIES = OptionKind("queries", _texts, python=_LIST)
"""Texts, which the command line reads from files."""
ORDERED = OptionKind("ordered", _names, python="Sequence[str]")
"""Columns in an order, which the command line takes once."""
WEIGHTS = OptionKind("weights", _weights, python="Mapping[str, Share]")
LEVELS = OptionKind("columns_at", _levels, python="Mapping[str, str | int]")
"""A level of a hierarchy for a column."""
FILE = OptionKind("file", lambda _, value: Path(value), python="str | Path")
FOLDER = OptionKind("file", lambda _, value: str(value))
TABLE = OptionKind("table", _as_it_is, python="Any")
"""Another table, which the command line names and reads as it reads the target."""
TABLES = OptionKind("tables", _as_it_is, python="Sequence[Any]")
"""Several such tables."""
SOURCE = OptionKind("source", _as_it_is, python="Any")
"""A file or folder, or in Python what would be in it."""


def listed(words: Iterable[str]) -> OptionKind:
    """One of some words, where the request itself says what is wrong with another."""
    return OptionKind("choice", _as_it_is, tuple(words))


def one_of(*words: str, of: type[str] = str) -> OptionKind:
    """One of some words, as a text or what `of` makes of it."""

    def read(name: str, value: object) -> str:
        if value not in words:
            raise UsageError(f"{spelled(name)} is one of {_in_words(words)}, not {str(value)[:60]!r}.")
        return of(value)

    return OptionKind("choice", read, words, "str" if of is str else f"{of.__name__} | str")


def choice(of: type[StrEnum]) -> OptionKind:
    """One of the words of an enumeration."""
    return one_of(*(member.value for member in of), of=of)


@dataclass(frozen=True)
class Option:
    """What a field says of itself.

    Args:
        name: the parameter of this option; the field's own name unless it has another one inside.
        kind: what it takes. help, section, metavar: of the help page.
        flags: how the command line spells it; empty = like the parameter. shown: the text of the default, when the help
            page tells it. least, most, above, below: the bounds of a number, None = none. every: what `all` stands for.
        only_python: the command line says it in another way. only_command_line: Python says it in another way.
        writes: whether it names a file to write. needed: whether a call in Python must give it. or_none: whether
            Python takes None though the default is another.
        positional: whether a call in Python may give it by its position.
        python_default: the default as Python writes it, where the field's own is of another type; None = the field's.
    """

    name: str
    kind: OptionKind
    help: str
    section: str
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    shown: str = ""
    alone: str = ""
    default: Any = None
    least: int | None = None
    most: int | None = None
    above: int | None = None
    below: int | None = None
    every: int | None = None
    only_python: bool = False
    only_command_line: bool = False
    writes: bool = False
    needed: bool = False
    or_none: bool = False
    positional: bool = False
    python_default: object = None

    @property
    def refuses_none(self) -> bool:
        """Return True if None is neither the default nor stands for one: the reader then says what is taken instead."""
        is_exact = self.kind.name in ("share", "number", "choice") and self.default is not None
        return self.needed or (is_exact and not self.or_none)

    def check(self, value: Any) -> None:
        """Raise an error if a number is out of bounds.

        Raises:
            OutOfRange: it is.
        """
        low = (self.least is None or value >= self.least) and (self.above is None or value > self.above)
        if not (low and (self.most is None or value <= self.most) and (self.below is None or value < self.below)):
            raise OutOfRange(f"{spelled(self.name)} must be {self._bounds()}, not {value}.")

    def in_python(self) -> tuple[str, object, str]:
        """Return type, default and text of the parameter of a function: nothing of flags, and no weights are None."""
        default = self.default if self.python_default is None else self.python_default
        default = None if isinstance(default, dict) else default
        if isinstance(default, Fraction) and default.denominator == 1:
            default = int(default)
        takes_none = (default is None and not self.needed) or self.or_none
        takes_none |= self.kind is MOST and self.every is None  # None = all
        kind = f"{self.kind.python} | None" if takes_none and self.kind.python != "Any" else self.kind.python
        text = re.sub(
            "--([a-z-]+)", lambda flag: f"`{flag[1].replace('-', '_')}`", self.help.replace("TARGET", "`target`")
        )
        words = ["seconds"] if self.kind is SECONDS else self.kind.words
        text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
        default = REQUIRED if self.needed else default
        return kind, default, f"{text.removesuffix('.')} ({', '.join(words)})." if 0 < len(words) < 9 else text

    def _bounds(self) -> str:
        if self.kind is NOT_NEGATIVE:
            return "a number of 0 or more"
        if self.kind.name == SHARE.name and self.least is not None and self.most is not None:
            return f"a share from {self.least} to {self.most} (100%)"
        limits = (("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below))
        words = " and ".join(f"{how} {bound:,}" for how, bound in limits if bound is not None)
        return f"a share of {words}" if self.kind.name == SHARE.name else words


def option(
    default: object,
    kind: OptionKind,
    help: str,
    section: str,
    make: Make | None = None,
    parameters: tuple[str, ...] = (),
    **more: object,
) -> Any:
    """Return a field that is an option.

    Args:
        default: of the field.
        kind, help, section, more: as `Option` has them.
        make: returns the field's value where more than the option decides it, as `RequestPart` has it.
        parameters: parameters of Python that are no option. With them, `make` is called when one of them is given,
            and otherwise the option alone decides.
    """
    metadata: dict[str, object] = {
        _OPTION: {"kind": kind, "help": help, "section": section, "default": default, **more}
    }
    if make is not None:
        metadata[_PART] = RequestPart(make, parameters=parameters)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata, repr=kind.name != "inputs")
    return field(
        default=default, metadata=metadata, repr=kind.name != SOURCE.name and kind not in (DATABASE, CONDITION, QUERIES)
    )


@dataclass(frozen=True)
class RequestPart:
    """What a field says of itself that is made of several options, or of an option and what stands beside it.

    Args:
        make: returns the field's value, from what was given by parameter and the name of the field's option.
        options: returns the options that belong to it.
        parameters: parameters of Python that are no option, in their order; `sqlaudit.engines.command` describes them.
        kind: what it is to edges that say it in a way of their own, such as the argument TARGET; empty = nothing.
    """

    make: Make
    options: Callable[[], Iterable[Option]] = tuple
    parameters: tuple[str, ...] = ()
    kind: str = ""


def part(
    make: Make,
    options: Callable[[], Iterable[Option]] = tuple,
    *,
    parameters: tuple[str, ...] = (),
    kind: str = "",
    **default: Any,
) -> Any:
    """Return a field that is a part of its request.

    Args:
        make, options, parameters, kind: as `RequestPart` has them.
        default: `default=` or `default_factory=` of the field; without one it is needed.
    """
    return field(metadata={_PART: RequestPart(make, options, parameters, kind)}, **default)


def nested(request: Callable[..., object]) -> Any:
    """Return a field that is a request with options of its own; without any of them it has its defaults."""
    kind: Any = request
    return part(
        lambda given, _: request_from(kind, given),
        lambda: (option for _, option in options_of(kind)),
        default_factory=kind,
    )


def options_of(request: type[Any]) -> Iterator[tuple[str, Option]]:
    """Yield the options among the fields of a request, each with the name of its field."""
    for member in fields(request):
        if _OPTION in member.metadata:
            yield member.name, Option(**{"name": member.name, **member.metadata[_OPTION]})


def parts_of(request: type[Any]) -> Iterator[Option | RequestPart]:
    """Yield what edges can fill of a request, in the order of its fields: options, and parts of several."""
    for member in fields(request):
        if _OPTION in member.metadata:
            yield Option(**{"name": member.name, **member.metadata[_OPTION]})
        if _PART in member.metadata:
            yield member.metadata[_PART]


def all_options_of(request: type[object]) -> Iterator[Option]:
    """Yield the options of a request and of its parts, in the order of the fields."""
    for declared in parts_of(request):
        yield from (declared,) if isinstance(declared, Option) else declared.options()


def written_files(request: Any) -> Iterator[Path]:
    """Yield the files that a request names to be written, those of its parts as well."""
    for member in fields(request):
        value = getattr(request, member.name)
        if value is not None and member.metadata.get(_OPTION, {}).get("writes"):
            yield Path(value)
        elif hasattr(type(value), "__dataclass_fields__"):
            yield from written_files(value)


def request_from(request: type[T], given: Given, **more: object) -> T:
    """Return a request made from what was given for its options, each read as its field says.

    Args:
        request: the dataclass. given: values by parameter; others than options are passed over, and so is None where
            names or weights are taken. more: fields whose value is known.

    Raises:
        UsageError: a value that its option does not take, or whatever the request refuses.
    """
    for member in fields(request):  # type: ignore[arg-type]  # of a dataclass
        if member.name in more:
            continue
        own = Option(**{"name": member.name, **member.metadata[_OPTION]}) if _OPTION in member.metadata else None
        declared: RequestPart | None = member.metadata.get(_PART)
        if declared is not None and _decides(declared, own, given):
            more[member.name] = declared.make(given, member.name if own is None else own.name)
        elif own is not None and own.name in given:
            value = given[own.name]
            if value is not None or own.refuses_none:
                more[member.name] = own.kind.read(own.name, value)
            elif not isinstance(own.default, tuple | dict):
                more[member.name] = None
    return request(**more)


def _decides(declared: RequestPart, own: Option | None, given: Given) -> bool:
    """Return True if a field is made of more than its option: always, unless that depends on parameters of Python."""
    if own is None or not declared.parameters:
        return True
    return any(given.get(parameter) is not None for parameter in declared.parameters)


def made(request: type[T], given: T | Mapping[str, object] | None, parameter: str) -> T:
    """Return a request that Python gives as one, as a mapping of its fields, or not at all.

    Args:
        request: the dataclass. given: what was passed. parameter: as what, for sentences.

    Raises:
        UsageError: something else, a name that is no field, or a value that its option does not take.
    """
    if given is None or isinstance(given, request):
        return given or request()
    names = {field: one.name for field, one in options_of(request)}
    if not isinstance(given, Mapping):
        expected = f"{request.__name__} or a mapping of {', '.join(names)}"
        raise UsageError(f"{spelled(parameter)} takes {expected}{_type_of(given)}.")
    for key in given:
        if key not in names and key not in names.values():
            hint = closest(str(key)[:60], names) or f" It has {', '.join(names)}."
            raise UsageError(f"{spelled(parameter)} has no {str(key)[:60]!r}.{hint}")
    return request_from(request, {names.get(key, key): value for key, value in given.items()})


def check_bounds(request: object) -> None:
    """Check every option of a request: its type, and that a number is within its bounds.

    Each value becomes what its option reads from it, so that requests made in code are like those of every edge.

    Raises:
        UsageError: one is not.
    """
    for name, one in options_of(type(request)):
        value = getattr(request, name)
        if value is None or (type(value) is type(one.default) and value == one.default):
            continue
        read = one.kind.read(one.name, value)
        if read is not value:
            object.__setattr__(request, name, read)
        if isinstance(read, int | float | Fraction) and not isinstance(read, bool):
            one.check(read)


# Options in reports, which repeat the command or the call that made them.

_COLUMNS = (
    "qi sensitive identifier insensitive accept_identifier entity by count keep_column original user x y time columns "
    "exclude key match other_qi reviewed household sequence static value contributors person weight weights "
    "bucket_column bucket_count start owner dimensions holdings measures largest rate grouping position bounds "
    "property_bounds box_column interval_column delay_column k_column"
)
_TABLES = "identified other_release static_from before margins linked positions observations properties"
_NUMBERS = (
    "known_rows require preset nulls knowledge hierarchies inputs find suppress k max_size tolerance threshold "
    "failing_classes worst_classes measure population_size sampling_fraction method rows known random box interval "
    "criteria witness pieces workload only level widths mask chain beta epsilon delta select smallest_box "
    "smallest_interval delay sure h width node low high origin dates max_global_risk time_budget time_limit timeout "
    "memory_limit"
)
SHOWN = frozenset(f"{_COLUMNS} {_TABLES} {_NUMBERS}".split())
"""Options of columns, tables, numbers and names of models. Reports repeat their texts, which hold no value of a row."""
