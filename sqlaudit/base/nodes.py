"""Files in YAML, and mappings of Python, as nodes with their locations.

Values are taken as they are written, never as YAML's types. Only texts, lists and pairs are made, so a tag can call
nothing; and the size to which nesting and aliases may expand a small file is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base import numbers
from sqlaudit.base.errors import InputError, UsageError, unreadable_file
from sqlaudit.base.files import no_name
from sqlaudit.base.frozen import dataclass

Name = str | None
"""How a file names a value: its text, or None for NULL."""
FILE = "the inputs"
DEEPEST = 100
"""The largest depth to which a file may be nested, since its reader recurses."""


@dataclass(frozen=True)
class Node:
    """A piece of a file with its location: a text, None, a list of nodes, or (key node, node) pairs."""

    value: str | list[Node] | list[tuple[Node, Node]] | None
    place: str
    is_mapping: bool = False

    def fail(self, sentence: str) -> UsageError:
        """Return an error that begins with the location."""
        return UsageError(f"{self.place}: {sentence}")

    def text(self, what: str) -> str:
        """Return the node as a text."""
        if not isinstance(self.value, str):
            raise self.fail(f"{what} is a text.")
        return self.value

    def name(self, what: str) -> Name:
        """Return the node as the name of a value."""
        if isinstance(self.value, list):
            raise self.fail(f"{what} takes single values here, not a list or mapping.")
        return self.value

    def items(self, what: str) -> list[Node]:
        """Return the node as a list."""
        if self.is_mapping or not isinstance(self.value, list):
            raise self.fail(f"{what} must be a list, for example [a, b].")
        return self.value  # type: ignore[return-value]

    def pairs(self, what: str) -> list[tuple[Node, Node]]:
        """Return the node as a mapping, each key once."""
        if not self.is_mapping or not isinstance(self.value, list):
            raise self.fail(f"{what} must be a mapping, for example {{name: …}}.")
        pairs: list[tuple[Node, Node]] = self.value  # type: ignore[assignment]
        seen: set[object] = set()
        for key, _ in pairs:
            if key.name("a key") in seen:
                raise key.fail("the same key is here twice.")
            seen.add(key.value)
        return pairs


def load_nodes(path: str | Path, called: str = "") -> Node | None:
    """Return a YAML file as nodes with their lines, None for an empty file; `called` is its name in errors.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: a node contains itself, is nested more than `DEEPEST` deep, or is repeated by aliases without end.
    """
    file = called or str(Path(path))
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
        return composed(content, file)
    except OSError as error:
        raise unreadable_file(file, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text in UTF-8.") from None
    except ValueError:
        raise no_name(file) from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply.") from None


def nodes_of(value: object, location: str = FILE) -> Node:
    """Return a Python value as nodes; `location` is its name in errors."""
    if isinstance(value, Mapping):
        pairs = [
            (nodes_of(k, location), nodes_of(v, f"{location}, {k!s}" if location == FILE else location))
            for k, v in value.items()
        ]
        return Node(pairs, location, is_mapping=True)
    if isinstance(value, list | tuple | set | frozenset):
        return Node([nodes_of(item, location) for item in value], location)
    return Node(None if value is None else str(value), location)


MAX_EXPONENT = 30


def exact_number(node: Node, what: str, lowest: Fraction | None = None, *, above: bool = False) -> Fraction:
    """Return the node as an exact number, at least (or above) a lowest one.

    Raises:
        UsageError: it is not a number, or too small.
    """
    try:
        number = numbers.exact_number(node.text(what))
    except UsageError:
        raise node.fail(f"{what} must be a number, for example 0.5.") from None
    if number and not Fraction(10) ** -MAX_EXPONENT <= abs(number) <= 10**MAX_EXPONENT:
        raise node.fail(f"{what} is a number between 1e-{MAX_EXPONENT} and 1e{MAX_EXPONENT}, or 0.")
    if lowest is not None and (number < lowest or (above and number == lowest)):
        raise node.fail(f"{what} is {'greater than' if above else 'at least'} {lowest}.")
    return number


_MERGE = "tag:yaml.org,2002:merge"


def composed(content: str, file: str) -> Node | None:
    """Return the nodes of a text, None for an empty one; `file` is its name in errors.

    Raises:
        InputError: it is not YAML.
        UsageError: a node contains itself, is nested more than `DEEPEST` deep, or is repeated by aliases without end.
        RecursionError: it is nested so deeply that the parser gives up.
    """
    import yaml

    try:
        root = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        reason = (
            "the indentation or a bracket is wrong"
            if getattr(error, "context", None)
            else "a character is out of place"
        )
        raise InputError(f"{file}{line}: is not YAML ({reason}).") from None
    # without aliases each node takes at least a character, and few files need many aliases
    return None if root is None else _Converter(file, 10_000 + 10 * len(content)).node(root, ())


class _Converter:
    """A converter of PyYAML's nodes, in which an alias is the same node again, to ours, in which it is a copy.

    Args:
        file: the name of the file in errors. allowed: the largest number of nodes to which it may expand.
    """

    def __init__(self, file: str, allowed: int) -> None:
        self._file, self._left = file, allowed

    def node(self, node: Any, above: tuple[object, ...]) -> Node:
        """Return the node with all nodes in it; `above` are the nodes around it."""
        location = f"{self._file}, line {node.start_mark.line + 1}"
        if node in above:
            raise UsageError(f"{location}: contains itself.")
        if len(above) >= DEEPEST:
            raise UsageError(f"{location}: is nested more than {DEEPEST} deep.")
        self._left -= 1
        if self._left < 0:
            raise UsageError(f"{location}: aliases repeat too much to be read.")
        above = (*above, node)
        if node.id == "scalar":
            return Node(None if node.tag == "tag:yaml.org,2002:null" else node.value, location)
        if node.id == "sequence":
            return Node([self.node(item, above) for item in node.value], location)
        return self._mapping(node, location, above)

    def _mapping(self, node: Any, location: str, above: tuple[Any, ...]) -> Node:
        """Return a mapping with the pairs that `<<` merges into it."""
        entries = [(key, value) for key, value in node.value if key.tag != _MERGE]
        pairs = [(self.node(key, above), self.node(value, above)) for key, value in entries]
        merges = [self.node(value, above) for key, value in node.value if key.tag == _MERGE]
        merged = [pair for value in merges for pair in _to_merge(value)]
        return Node(_with_merged(pairs, merged), location, is_mapping=True)


def _to_merge(node: Node) -> list[tuple[Node, Node]]:
    """Return the pairs that `<<` merges: those of a mapping, or of a list of mappings.

    Raises:
        UsageError: it is neither.
    """
    sources = [node] if node.is_mapping or not isinstance(node.value, list) else node.items("<<")
    return [pair for source in sources for pair in source.pairs("what << merges")]


def _with_merged(pairs: list[tuple[Node, Node]], merged: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    """Return the pairs of a mapping, and after them the merged ones with new keys: the first pair of a key wins."""
    names, all_pairs = {str(key.value) for key, _ in pairs}, list(pairs)
    for key, value in merged:
        if str(key.value) not in names:
            names.add(str(key.value))
            all_pairs.append((key, value))
    return all_pairs
