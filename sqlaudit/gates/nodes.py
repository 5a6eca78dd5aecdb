"""Reading a policy's nodes: known keys, lists, dates, thresholds; a mistake is kept, and reading goes on."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.options import (
    DELIMITER,
    FLAG,
    NAMES,
    ORDERED,
    RANGE,
    SHARE,
    SWITCH,
    TEXTS,
    WHOLE,
    Option,
    options_of,
    request_from,
)
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Coverage, ReadOptions, Roles, SafeHarbor, Sampling
from sqlaudit.gates.result import Mistake, Place, Threshold

T = TypeVar("T")
D = TypeVar("D")
_THRESHOLD = re.compile(r"(>=|<=|!=|==|=|>|<)\s*(\d+(?:\.\d+)?)\s*(%|rows?)?", re.ASCII)
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:/(\d{1,18}))?\s*(%)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_PLACED = re.compile(r"(?P<file>[^\n]+?), line (?P<line>\d+): (?P<said>.+)", re.DOTALL)
_OF_TABLES = {
    option.name: (field, option)
    for request in (Roles, Sampling, Coverage, SafeHarbor)
    for field, option in options_of(request)
    if option.kind not in (FLAG, SWITCH) and option.name != "accept_identifier"
}
"""The options that a policy has keys for, by name; flags, and identifiers that an exception accepts, are called as
around the policy."""
_IN_QUOTES = "sensitive", "inputs", "suppress", "suppressed", "to", "keep_column", "dimensions", "measures", "holdings"
_KEYS = {
    **{name: field for name, (field, _) in _OF_TABLES.items()},
    **{name: name for name in ("where", "query", "exclude", "key", "by_position", "distance", "hierarchies")},
    **{name: f"'{name}'" for name in _IN_QUOTES},
    "columns": "among",
    "level": "levels",
    "db": "the connection",
    "read": "'read'",
    "buckets": "`sqlaudit audit --buckets`",
}
"""What a policy calls the fields of requests: its keys, and where it has none for a field, what it has instead."""
_LISTS = [name for name, (_, option) in _OF_TABLES.items() if option.kind is NAMES and name != "sensitive"]
"""Fields whose values are written as a list."""
_YES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}


def yaml_text(text: str) -> str:
    """A text as YAML writes it: plain where that is safe, else in double quotes.

    Example:
        >>> yaml_text("public.patients"), yaml_text("yes"), yaml_text("last, first")
        ('public.patients', '"yes"', '"last, first"')
    """
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    written = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in written)


def yaml_read(options: ReadOptions, indent: str) -> Iterator[str]:
    """Yield the lines of `read:` with the options that differ from the default; none without any."""
    for position, name in enumerate(one.name for one in fields(options) if one.name in options.given):
        value = getattr(options, name)
        if isinstance(value, tuple):
            written = "[" + ", ".join(map(yaml_text, value)) + "]"
        else:
            written = str(value).lower() if isinstance(value, bool | int) else yaml_text(value)
        yield from [] if position else [f"{indent}read:"]
        yield f"{indent}  {name}: {written}"


def place_of(node: Node) -> Place:
    """Return where a node stands."""
    file, comma, line = node.place.rpartition(", line ")
    return Place(file, int(line)) if comma and line.isdecimal() else Place(node.place)


def children(node: Node | None) -> dict[str, Node]:
    """The values of a mapping by those keys that are texts; none for something else."""
    pairs: Any = node.value if node is not None and node.is_mapping else ()
    return {key.value: value for key, value in pairs if isinstance(key.value, str)}


def items_of(node: Node | None) -> list[Node]:
    """The nodes of a list; none for something else."""
    return [] if node is None or node.is_mapping or not isinstance(node.value, list) else node.value  # type: ignore[return-value]


def text_or_empty(node: Node | None) -> str:
    """The text of a node; empty where there is none."""
    return node.value if node is not None and isinstance(node.value, str) else ""


def in_a_policy(field: str, values: tuple[object, ...]) -> str | None:
    """The key of a policy for a field, with its value; None where a policy has none.

    Example:
        >>> in_a_policy("qi", ()), in_a_policy("nulls", ("equal",)), in_a_policy("qi", ("age", "sex"))
        ('quasi_identifiers', 'nulls: equal', 'quasi_identifiers: [age, sex]')
    """
    key = _KEYS.get(field)
    if key is None or not values or values == (True,):
        return key
    value_text = ", ".join(map(str, values))
    return f"{key.strip(chr(39))}: {f'[{value_text}]' if field in _LISTS else value_text}"


class PolicySection(dict[str, Node]):
    """The known keys of a mapping.

    Args:
        node: the mapping. mistakes: takes those that are found in it. found: its values by key.
    """

    def __init__(self, node: Node, mistakes: Mistakes, values: Mapping[str, Node]) -> None:
        super().__init__(values)
        self.node = node
        self.mistakes = mistakes

    @property
    def filled(self) -> PolicySection:
        """The keys with a value: one under which nothing stands is as good as absent."""
        return PolicySection(
            self.node, self.mistakes, {key: node for key, node in self.items() if node.value is not None}
        )

    def over(self, usual: Mapping[str, Node]) -> PolicySection:
        """The section with what is usual where it has no key of its own."""
        return PolicySection(self.node, self.mistakes, {**usual, **self})

    def take(self, key: str, read: Callable[..., T], default: D, *parameters: object, what: str = "") -> T | D:
        """Return what a reader makes of a key's value; the default where the key is absent, and after a mistake.

        Args:
            key: of the section. read: a reader, which takes `parameters` besides.
            what: the key in errors, if not as it is.
        """
        return self.mistakes.attempt(read, self.get(key), default, what or key, *parameters)

    def take_options(
        self, request: type[object], *names: str, **readers: Callable[[Node, str], object]
    ) -> dict[str, Any]:
        """The values of keys that are options of a request; those that are absent or wrong are left out.

        Args:
            request: the dataclass. names: of its fields, empty = every option.
            readers: of fields whose texts are read otherwise than the kind of the option says.
        """
        values = {}
        for name, option in options_of(request):
            if not names or name in names:
                value = self.take(name, option_value, None, option, readers.get(name))
                if value is not None:
                    values[name] = value
        return values

    def take_request(self, request: type[T], **readers: Callable[[Node, str], object]) -> T:
        """Return the request that the keys of its options make; its defaults after a mistake in one, or in all of them.

        Args:
            request, readers: as `take_options` has them.
        """
        values = self.take_options(request, **readers)
        names = {name: option.name for name, option in options_of(request)}
        try:
            return request_from(request, {names[name]: value for name, value in values.items()})
        except SqlauditError as error:
            self.mistakes.keep(error, self.node)
            return request()


class Mistakes(list[Mistake]):
    """Mistakes found so far; `attempt` reads on after one."""

    def add(self, node: Node, sentence: str) -> None:
        """A mistake at a node."""
        self.append(Mistake(place_of(node), sentence))

    def keep(self, error: SqlauditError, node: Node) -> None:
        """An error as a mistake: at its own place when it names one in the same file, else at the node."""
        location, sentence = place_of(node), str(error)
        match = _PLACED.fullmatch(sentence)
        if match is not None and match["file"] == location.file:
            self.append(Mistake(Place(location.file, int(match["line"])), match["said"]))
        else:
            self.append(Mistake(location, sentence.removeprefix(f"{node.place}: ")))

    def attempt(self, read: Callable[..., T], node: Node | None, default: D, *parameters: object) -> T | D:
        """Return what `read` makes of a node; the default without a node, and after a mistake, which is kept."""
        if node is None:
            return default
        try:
            return read(node, *parameters)
        except SqlauditError as error:
            self.keep(error, node)
            return default

    def items(self, node: Node | None, what: str) -> Sequence[Node]:
        """The nodes of a list; none without one, and after a mistake."""
        return self.attempt(Node.items, node, (), what)

    def pairs(self, node: Node, what: str) -> Sequence[tuple[Node, Node]]:
        """The pairs of a mapping; none after a mistake."""
        return self.attempt(Node.pairs, node, (), what)

    def section(self, node: Node, what: str, keys: Iterable[str]) -> PolicySection:
        """The known keys of a mapping; unknown ones are mistakes that name the closest. Keys with x- are skipped."""
        names, values = list(keys), {}
        for key, value in self.pairs(node, what):
            name = key.value if isinstance(key.value, str) else ""
            if name in names:
                values[name] = value
            elif not name.startswith("x-"):
                hint = closest(name, names) or f" Available: {', '.join(names)}."
                self.add(key, f"{what} has no key {name!r}.{hint}")
        return PolicySection(node, self, values)


# Readers of values: each takes a node, what errors call it, and says at which line it is something else.


def text(node: Node, what: str) -> str:
    """A text that is not empty."""
    stripped = node.text(what).strip()
    if not stripped:
        raise node.fail(f"{what} is empty.")
    return stripped


def texts(node: Node, what: str) -> tuple[str, ...]:
    """A list of texts; a single text is a list of one."""
    return tuple(text(item, what) for item in ([node] if isinstance(node.value, str) else node.items(what)))


def column_text(node: Node, what: str) -> str:
    """The name of a column, or an expression over columns: `expression: year(birth)` is `(year(birth))`."""
    if not node.is_mapping:
        return text(node, what)
    values = children(node)
    if list(values) != ["expression"]:
        raise node.fail(f"{what} takes names of columns, or expressions such as {{expression: year(birth)}}.")
    return f"({text(values['expression'], 'expression')})"


def column_list(node: Node, what: str) -> tuple[str, ...]:
    """A list of columns and expressions; a single one is a list of one."""
    alone = node.is_mapping or isinstance(node.value, str)
    return tuple(column_text(item, what) for item in ([node] if alone else node.items(what)))


def flag(node: Node, what: str) -> bool:
    """True or false."""
    word = node.text(what).casefold()
    if word not in _YES:
        raise node.fail(f"{what} must be true or false.")
    return _YES[word]


def _integer(node: Node, what: str) -> int:
    """A whole number, whose bounds are those of its option."""
    match = _INTEGER.fullmatch(node.text(what).strip())
    if match is None:
        raise node.fail(f"{what} must be a whole number.")
    return int(match[0])


def choice(node: Node, what: str, words: Iterable[str]) -> str:
    """One of some words."""
    names, word = list(words), node.text(what)
    if word not in names:
        raise node.fail(f"{what} must be one of {', '.join(names)}, not {word!r}.{closest(word, names)}")
    return word


def whole(node: Node, what: str, kind: str = "from 1", digits: int = 9) -> int:
    """A positive whole number of so many digits at most; `kind` says in errors which ones are meant."""
    word = node.text(what)
    if not (word.isascii() and word.isdecimal() and len(word) <= digits and int(word)):
        raise node.fail(f"{what} must be a whole number {kind}, not {word!r}.")
    return int(word)


def day(node: Node, what: str) -> datetime.date:
    """A date, 2027-06-30."""
    try:
        return datetime.date.fromisoformat(node.text(what))
    except ValueError:
        raise node.fail(f"{what} must be a date such as 2027-06-30.") from None


def share(node: Node, what: str) -> Fraction:
    """A share from 0 to below 1: `1%` or `0.01`."""
    fraction = number(node, what, "share such as 1% or 0.01")
    if not 0 <= fraction < 1:
        raise node.fail(f"{what} must be a share of at least 0 and below 1.")
    return fraction


def number(node: Node, what: str, kind: str = "number, for example 0.2, 1/3 or 20%") -> Fraction:
    """An exact number, `0.2`, `1/3` or `20%`: read as a decimal or a fraction, never as a float."""
    match = _NUMBER.fullmatch(node.text("a number").strip())
    if match is None or (match[2] and not int(match[2])):
        raise node.fail(f"{what} must be a {kind}.")
    return Fraction(Decimal(match[1])) / (int(match[2]) if match[2] else 1) / (100 if match[3] else 1)


_READERS: Mapping[str, Callable[[Node, str], object]] = {
    **dict.fromkeys((FLAG.name, SWITCH.name), flag),
    **dict.fromkeys((NAMES.name, ORDERED.name, TEXTS.name), texts),
    **dict.fromkeys((WHOLE.name, RANGE.name), _integer),
    SHARE.name: number,
    DELIMITER.name: Node.text,
}
"""What makes of a node what Python gives for an option, by the kind; others are texts."""


def option_value(node: Node, what: str, option: Option, read: Callable[[Node, str], object] | None = None) -> Any:
    """Return the value of a key that is an option: its reader and its bounds are those of every edge.

    Args:
        node: the value. what: the key. option: the option.
        read: makes of the node what Python gives for the option, if not as its kind says.

    Raises:
        UsageError: something that the option does not take, at its line.
    """
    words = () if read is not None else option.kind.words
    value = choice(node, what, words) if words else (read or _READERS.get(option.kind.name, text))(node, what)
    try:
        with speaking(lambda field, _: what if field == option.name else None):
            read_value = option.kind.read(option.name, value)
            if isinstance(read_value, int | Fraction) and not isinstance(read_value, bool):
                option.check(read_value)
    except UsageError as error:
        raise node.fail(str(error)) from None
    return read_value


def threshold(node: Node, what: str) -> Threshold:
    """A condition on the failing rows: `> 10`, `> 1%`, `!= 0`.

    What more rows would not meet, or not even all rows, allows what no one sees, and is refused.
    """
    condition = _condition(node, what)
    if condition.operator not in (">", ">=") and not (condition.operator == "!=" and condition.number == 0):
        raise node.fail(f"{what} is a lower limit of failing rows: write > or >=, for example '> 1%'.")
    if condition.share and not condition.met(1, 1):
        raise node.fail(f"{what} '{condition.text}' is more than all rows. Write a smaller share.")
    return condition


def _condition(node: Node, what: str) -> Threshold:
    written = node.text(what).strip()
    match = _THRESHOLD.fullmatch(written)
    if match is None:
        raise node.fail(f"{what} must be a condition on the number of failing rows, for example '> 10' or '> 1%'.")
    number, is_share = Fraction(match[2]), match[3] == "%"
    if not is_share and number.denominator != 1:
        raise node.fail(f"{what} counts whole rows. Write a share with %, for example '> 1%'.")
    return Threshold(written, match[1], number / 100 if is_share else number, is_share)


def up_to(node: Node, what: str) -> Threshold:
    """A bound on the failing rows: `12` or `1%`."""
    condition = _condition(Node(f"<= {node.text(what).strip()}", node.place), what)
    if condition.share and condition.number > 1:
        raise node.fail(f"{what} must be at most 100%.")
    return condition
