"""Files in YAML, and mappings of Python, as nodes that know where they stand.

Values are taken as they are written, never as YAML's types. Nothing is made but texts, lists and pairs, so a tag can
call nothing; and what a small file may unfold to, by nesting and by aliases, is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.paths import no_name

Name = str | None
"""How a file names a value: its text, or None for NULL."""
FILE = "the inputs"
DEEPEST = 100
"""So deep a file may be nested: what reads it recurses, and its stack ends somewhere."""


@dataclass(frozen=True)
class Node:
    """A piece of a file: a text, None, a list of nodes, or (key node, node) pairs; and where it stands."""

    value: str | list[Node] | list[tuple[Node, Node]] | None
    place: str
    is_mapping: bool = False

    def fail(self, sentence: str) -> UsageError:
        """An error that begins with the place."""
        return UsageError(f"{self.place}: {sentence}")

    def text(self, what: str) -> str:
        """The node as a text."""
        if not isinstance(self.value, str):
            raise self.fail(f"{what} is a text.")
        return self.value

    def name(self, what: str) -> Name:
        """The node as the name of a value."""
        if isinstance(self.value, list):
            raise self.fail(f"{what} holds single values here, not a list or mapping.")
        return self.value

    def items(self, what: str) -> list[Node]:
        """The node as a list."""
        if self.is_mapping or not isinstance(self.value, list):
            raise self.fail(f"{what} is a list, for instance [a, b].")
        return self.value  # type: ignore[return-value]

    def pairs(self, what: str) -> list[tuple[Node, Node]]:
        """The node as a mapping, each key once."""
        if not self.is_mapping or not isinstance(self.value, list):
            raise self.fail(f"{what} is a mapping, for instance {{name: …}}.")
        found: list[tuple[Node, Node]] = self.value  # type: ignore[assignment]
        seen: set[Any] = set()
        for key, _ in found:
            if key.name("a key") in seen:
                raise key.fail("the same key stands here twice.")
            seen.add(key.value)
        return found


def load_nodes(path: str | Path, called: str = "") -> Node | None:
    """A YAML file as nodes that know their line, None for an empty one; `called` is its name in errors.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: a node contains itself, is nested more than `DEEPEST` deep, or is repeated by aliases without end.
    """
    file = called or str(Path(path))
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
        from sqlaudit.base.yaml_nodes import composed

        return composed(content, file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text in UTF-8.") from None
    except ValueError:
        raise no_name(file) from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply.") from None


def nodes_of(value: Any, place: str = FILE) -> Node:
    """A Python value as nodes; `place` is what errors call it."""
    return _from_python(value, place)


def _from_python(value: Any, place: str = FILE) -> Node:
    if isinstance(value, Mapping):
        pairs = [
            (_from_python(k, place), _from_python(v, f"{place}, {k!s}" if place == FILE else place))
            for k, v in value.items()
        ]
        return Node(pairs, place, is_mapping=True)
    if isinstance(value, list | tuple | set | frozenset):
        return Node([_from_python(item, place) for item in value], place)
    return Node(None if value is None else str(value), place)


MAX_EXPONENT = 30


def exact_number(node: Node, what: str, lowest: Fraction | None = None, *, above: bool = False) -> Fraction:
    """The node as an exact number, at least (or above) a lowest one.

    Raises:
        UsageError: it is no number, or too small.
    """
    try:
        written = Decimal(node.text(what))
    except InvalidOperation:
        raise node.fail(f"{what} is a number, for instance 0.5.") from None
    if not written.is_finite() or abs(written.adjusted()) > MAX_EXPONENT:
        raise node.fail(f"{what} is a number between 1e-{MAX_EXPONENT} and 1e{MAX_EXPONENT}, or 0.")
    number = Fraction(written)
    if lowest is not None and (number < lowest or (above and number == lowest)):
        raise node.fail(f"{what} is {'greater than' if above else 'at least'} {lowest}.")
    return number
