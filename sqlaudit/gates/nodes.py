"""Reading a policy's nodes: known keys, lists, dates, thresholds; a mistake is kept, and reading goes on."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.gates.result import Mistake, Place, Threshold

T = TypeVar("T")
NO_TEXTS: tuple[str, ...] = ()
NO_NODES: tuple[Node, ...] = ()
NO_PAIRS: tuple[tuple[Node, Node], ...] = ()
_THRESHOLD = re.compile(r"(>=|<=|!=|==|=|>|<)\s*(\d+(?:\.\d+)?)\s*(%|rows?)?", re.ASCII)
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:/(\d{1,18}))?\s*(%)?", re.ASCII)
_PLACED = re.compile(r"(?P<file>[^\n]+?), line (?P<line>\d+): (?P<said>.+)", re.DOTALL)
_KEYS = {
    "qi": "quasi_identifiers",
    "sensitive": "'sensitive'",
    "identifier": "identifiers",
    "inputs": "'inputs'",
    "columns": "among",
    "db": "the connection",
    "buckets": "`sqlaudit audit --buckets`",
}
"""The keys that are not called like the field."""
_SAME = (
    "entity",
    "where",
    "query",
    "nulls",
    "exclude",
    "key",
    "by_position",
    "distance",
    "hierarchies",
    "insensitive",
    "values",
)
_YES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def place_of(node: Node) -> Place:
    """Where a node stands."""
    file, comma, line = node.place.rpartition(", line ")
    return Place(file, int(line)) if comma and line.isdecimal() else Place(node.place)


def in_a_policy(field: str, values: tuple[object, ...]) -> str | None:
    """The key of a policy for a field, with its value; None where a policy has none.

    Example:
        >>> in_a_policy("qi", ()), in_a_policy("nulls", ("equal",)), in_a_policy("qi", ("age", "sex"))
        ('quasi_identifiers', 'nulls: equal', 'quasi_identifiers: [age, sex]')
    """
    key = _KEYS.get(field, field if field in _SAME else None)
    if key is None or not values or values == (True,):
        return key
    given = ", ".join(map(str, values))
    return f"{key.strip(chr(39))}: {f'[{given}]' if field in ('qi', 'identifier') else given}"


class PolicySection(dict[str, Node]):
    """The known keys of a mapping.

    Args:
        node: the mapping. mistakes: takes those that are found in it.
    """

    def __init__(self, node: Node, mistakes: Mistakes) -> None:
        super().__init__()
        self.node = node
        self.mistakes = mistakes


class Mistakes(list[Mistake]):
    """Mistakes found so far; `attempt` reads on after one."""

    def add(self, node: Node, said: str) -> None:
        """A mistake at a node."""
        self.append(Mistake(place_of(node), said))

    def keep(self, error: SqlauditError, node: Node) -> None:
        """An error as a mistake: at its own place when it names one in the same file, else at the node."""
        place, said = place_of(node), str(error)
        found = _PLACED.fullmatch(said)
        if found is not None and found["file"] == place.file:
            self.append(Mistake(Place(place.file, int(found["line"])), found["said"]))
        else:
            self.append(Mistake(place, said.removeprefix(f"{node.place}: ")))

    def attempt(self, read: Callable[[Node], T], node: Node | None, default: T) -> T:
        """What `read` makes of a node; the default without a node, and after a mistake, which is kept."""
        if node is None:
            return default
        try:
            return read(node)
        except SqlauditError as error:
            self.keep(error, node)
            return default

    def section(self, node: Node, what: str, known: Iterable[str]) -> PolicySection:
        """The known keys of a mapping; unknown ones are mistakes that name the closest. Keys with x- are skipped."""
        names = list(known)
        found = PolicySection(node, self)
        for key, value in self.attempt(lambda one: tuple(one.pairs(what)), node, NO_PAIRS):
            name = key.value if isinstance(key.value, str) else ""
            if name.startswith("x-"):
                continue
            if name in names:
                found[name] = value
                continue
            hint = closest(name, names) or f" There are: {', '.join(names)}."
            self.add(key, f"{what} has no key {name!r}.{hint}")
        return found


def text(what: str) -> Callable[[Node], str]:
    """A reader of a text that is not empty."""

    def read(node: Node) -> str:
        found = node.text(what).strip()
        if not found:
            raise node.fail(f"{what} is empty.")
        return found

    return read


def texts(what: str) -> Callable[[Node], tuple[str, ...]]:
    """A reader of a list of texts; a single text is a list of one."""

    def read(node: Node) -> tuple[str, ...]:
        if isinstance(node.value, str):
            return (text(what)(node),)
        return tuple(text(what)(item) for item in node.items(what))

    return read


def flag(what: str) -> Callable[[Node], bool]:
    """A reader of true or false."""

    def read(node: Node) -> bool:
        word = node.text(what).casefold()
        if word not in _YES:
            raise node.fail(f"{what} is true or false.")
        return _YES[word]

    return read


def choice(what: str, known: Iterable[str]) -> Callable[[Node], str]:
    """A reader of one of some words."""
    names = list(known)

    def read(node: Node) -> str:
        word = node.text(what)
        if word not in names:
            raise node.fail(f"{what} is one of {', '.join(names)}, not {word!r}.{closest(word, names)}")
        return word

    return read


def whole(what: str, kind: str = "from 1", digits: int = 9) -> Callable[[Node], int]:
    """A reader of a positive whole number of so many digits at most; `kind` says in errors which ones are meant."""

    def read(node: Node) -> int:
        word = node.text(what)
        if not (word.isascii() and word.isdecimal() and len(word) <= digits and int(word)):
            raise node.fail(f"{what} is a whole number {kind}, not {word!r}.")
        return int(word)

    return read


def day(what: str) -> Callable[[Node], datetime.date]:
    """A reader of a date, 2027-06-30."""

    def read(node: Node) -> datetime.date:
        try:
            return datetime.date.fromisoformat(node.text(what))
        except ValueError:
            raise node.fail(f"{what} is a date such as 2027-06-30.") from None

    return read


def share(what: str) -> Callable[[Node], Fraction]:
    """A reader of a share from 0 to below 1: `1%` or `0.01`."""

    def read(node: Node) -> Fraction:
        found = _exact(node, f"{what} is a share such as 1% or 0.01.")
        if not 0 <= found < 1:
            raise node.fail(f"{what} is a share of at least 0 and below 1.")
        return found

    return read


def number(what: str) -> Callable[[Node], Fraction]:
    """A reader of an exact number: `0.2`, `1/3` or `20%`."""

    def read(node: Node) -> Fraction:
        return _exact(node, f"{what} is a number, for instance 0.2, 1/3 or 20%.")

    return read


def _exact(node: Node, said: str) -> Fraction:
    """A number read as a decimal or a fraction, never as a float."""
    found = _NUMBER.fullmatch(node.text("a number").strip())
    if found is None or (found[2] and not int(found[2])):
        raise node.fail(said)
    return Fraction(Decimal(found[1])) / (int(found[2]) if found[2] else 1) / (100 if found[3] else 1)


def threshold(what: str) -> Callable[[Node], Threshold]:
    """A reader of a condition on the rows that fall short: `> 10`, `> 1%`, `!= 0`.

    What more rows would not meet, or not even all rows, allows what nobody sees, and is refused.
    """

    def read(node: Node) -> Threshold:
        found = _condition(node, what)
        if found.operator not in (">", ">=") and not (found.operator == "!=" and found.number == 0):
            raise node.fail(f"{what} says from how many rows on that fall short: write > or >=, for instance '> 1%'.")
        if found.share and not found.met(1, 1):
            raise node.fail(f"{what} '{found.text}' is more than all rows; write a smaller share.")
        return found

    return read


def _condition(node: Node, what: str) -> Threshold:
    written = node.text(what).strip()
    found = _THRESHOLD.fullmatch(written)
    if found is None:
        raise node.fail(f"{what} is a condition on the rows that fall short, for instance '> 10' or '> 1%'.")
    number, unit = Fraction(found[2]), found[3]
    if unit == "%":
        return Threshold(written, found[1], number / 100, True)
    if number.denominator != 1:
        raise node.fail(f"{what} counts whole rows; write a share with %, for instance '> 1%'.")
    return Threshold(written, found[1], number, False)


def up_to(what: str) -> Callable[[Node], Threshold]:
    """A reader of a bound on the rows that fall short: `12` or `1%`."""

    def read(node: Node) -> Threshold:
        found = _condition(Node(f"<= {node.text(what).strip()}", node.place), what)
        if found.share and found.number > 1:
            raise node.fail(f"{what} is at most 100%.")
        return found

    return read


def chosen(found: Mapping[str, Node], name: str) -> Node | None:
    """A key's node, None when it is absent or nothing stands there."""
    node = found.get(name)
    return None if node is None or node.value is None else node
