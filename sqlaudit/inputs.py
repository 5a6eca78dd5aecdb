"""Further inputs of models from a YAML file: categories, orders, trees, class functions, a population table.

One file may serve several audits. What belongs to one sensitive attribute stands at the top level when there is only
one, else under `sensitive: {attribute: …}`. Values are taken as they are written, never as YAML's types (`yes` and
`010` stay texts); a plain `null`, `~` or nothing names NULL, `"null"` in quotes the text. `docs/inputs.md` has it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from sqlaudit.errors import InputError, UsageError
from sqlaudit.guard import closest
from sqlaudit.spec import AuditSpec, Target
from sqlaudit.value_tree import Tree, read_tree_csv

Name = str | None
"""How a file names a value: its text, or None for NULL."""
FILE = "the inputs"
MAX_EXPONENT = 30
_MERGE = "tag:yaml.org,2002:merge"


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


@dataclass(frozen=True)
class ValueList:
    """Values that a file names, each once, and where."""

    names: tuple[Name, ...]
    place: str


@dataclass(frozen=True)
class Numbers:
    """A number for each of some values; `values` None = the values themselves are the numbers."""

    values: Mapping[Name, Fraction] | None
    place: str


class Inputs(dict[str, Any]):
    """Inputs that were checked: what `load_inputs` and `read_inputs` give."""


def load_inputs(path: str | Path) -> Inputs:
    """The inputs in a YAML file.

    Args:
        path: the file; `tree_csv` in it is relative to the file.

    Returns:
        A mapping of the keys that the file has to checked values.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: an unknown key or a value of the wrong shape; the sentence names file and line, never a value.
    """
    root = load_nodes(path)
    return Inputs() if root is None else _read(root, Path(path).parent)


def load_nodes(path: str | Path) -> Node | None:
    """A YAML file as nodes that know their line, None for an empty one.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: a node contains itself.
    """
    file = Path(path)
    try:
        root = yaml.compose(file.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: is not text in UTF-8.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{file}{line}: is not YAML ({_problem(error)}).") from None
    return None if root is None else _from_yaml(root, str(file), ())


def inputs_from(node: Node, folder: Path) -> Inputs:
    """The inputs that a node of another file holds; `tree_csv` in it is relative to the folder.

    Raises:
        UsageError: as `load_inputs`.
    """
    return _read(node, folder)


def nodes_of(value: Any, place: str = FILE) -> Node:
    """A Python value as nodes; `place` is what errors call it."""
    return _from_python(value, place)


def read_inputs(inputs: Mapping[str, Any]) -> Inputs:
    """The same from a Python mapping; what `load_inputs` gave comes back unchanged.

    The population may be a frame or a `Target` here, too.

    Raises:
        UsageError: as `load_inputs`.

    Example:
        >>> read_inputs({"dont_care": ["cold", None]})["dont_care"].names
        ('cold', None)
    """
    if isinstance(inputs, Inputs):
        return inputs
    frame = inputs.get("population")
    if frame is None or isinstance(frame, str | Path | Mapping):
        return _read(_from_python(inputs), Path())
    rest = {key: value for key, value in inputs.items() if key != "population"}
    target = frame if isinstance(frame, Target) else Target(frame=frame, label="the population frame")
    return Inputs(_read(_from_python(rest), Path()), population=target)


def further_targets(spec: AuditSpec) -> tuple[Target, ...]:
    """What is read besides the target: the population table, if one is named."""
    inputs = read_inputs(spec.inputs)
    return (population_target(inputs, spec.target),) if "population" in inputs else ()


def population_target(inputs: Mapping[str, Any], audited: Target) -> Target:
    """The population table as a target; files are read as the audited one is."""
    given: Mapping[str, str] | Target = inputs["population"]
    if isinstance(given, Target):
        return given
    return Target(
        relation=given.get("table", ""),
        query=given.get("query", ""),
        where=given.get("where", ""),
        read=audited.read,
        label=given.get("table", "") or "the population query",
    )


def _problem(error: yaml.YAMLError) -> str:
    return "the indentation or a bracket is wrong" if getattr(error, "context", None) else "a sign is out of place"


def _from_yaml(node: yaml.Node, file: str, above: tuple[yaml.Node, ...]) -> Node:
    place = f"{file}, line {node.start_mark.line + 1}"
    if node in above:
        raise UsageError(f"{place}: contains itself.")
    above = (*above, node)
    if isinstance(node, yaml.ScalarNode):
        return Node(None if node.tag == "tag:yaml.org,2002:null" else node.value, place)
    if isinstance(node, yaml.SequenceNode):
        return Node([_from_yaml(item, file, above) for item in node.value], place)
    merges = [value for key, value in node.value if key.tag == _MERGE]
    pairs = [
        (_from_yaml(key, file, above), _from_yaml(value, file, above)) for key, value in node.value if key.tag != _MERGE
    ]
    merged = [pair for value in merges for pair in _to_merge(_from_yaml(value, file, above))]
    return Node(_with_merged(pairs, merged), place, is_mapping=True)


def _to_merge(node: Node) -> list[tuple[Node, Node]]:
    """The pairs that `<<` brings: those of a mapping, or of a list of mappings.

    Raises:
        UsageError: it is neither.
    """
    sources = [node] if node.is_mapping or not isinstance(node.value, list) else node.items("<<")
    return [pair for source in sources for pair in source.pairs("what << merges")]


def _with_merged(pairs: list[tuple[Node, Node]], merged: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    """The pairs of a mapping, and behind them those merged ones whose key is new: what comes first wins."""
    known, found = {str(key.value) for key, _ in pairs}, list(pairs)
    for key, value in merged:
        if str(key.value) not in known:
            known.add(str(key.value))
            found.append((key, value))
    return found


def _from_python(value: Any, place: str = FILE) -> Node:
    if isinstance(value, Mapping):
        pairs = [(_from_python(k, place), _from_python(v, f"{place}, {k!s}" if place == FILE else place))
                 for k, v in value.items()]  # fmt: skip
        return Node(pairs, place, is_mapping=True)
    if isinstance(value, list | tuple | set | frozenset):
        return Node([_from_python(item, place) for item in value], place)
    return Node(None if value is None else str(value), place)


def _read(root: Node, folder: Path) -> Inputs:
    known = {**OF_AN_ATTRIBUTE, **OF_THE_FILE}
    inputs = Inputs(_section(root, known, folder))
    if "sensitive" in inputs:
        for key in OF_AN_ATTRIBUTE:
            if key in inputs:
                raise UsageError(f"{root.place}: {key!r} stands beside 'sensitive'; put it under its attribute.")
    return inputs


def _section(node: Node, known: Mapping[str, Reader], folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.pairs("the file" if known.keys() & OF_THE_FILE.keys() else "an attribute's section"):
        name = key.text("a key")
        if name not in known:
            raise key.fail(f"there is no input {name!r}.{closest(name, known)} There are: {', '.join(known)}.")
        found["tree" if name == "tree_csv" else name] = known[name](value, folder)
    if {"tree", "tree_csv"} <= {key.value for key, _ in node.pairs("a section")}:
        raise node.fail("give either 'tree' or 'tree_csv'.")
    if "categories" in found:
        _refuse_overlap(found)
    return found


def _refuse_overlap(section: Mapping[str, Any]) -> None:
    if "dont_care" not in section:
        return
    unwatched = set(section["dont_care"].names)
    for listed in section["categories"].values():
        if both := unwatched.intersection(listed.names):
            raise UsageError(
                f"{listed.place}: {len(both)} of the values of this category also stand under 'dont_care'; "
                "a value that nobody cares about belongs to no category."
            )


Reader = Callable[[Node, Path], Any]


def _values(node: Node, _: Path) -> ValueList:
    return _list_of(node, "a list of values")


def _list_of(node: Node, what: str) -> ValueList:
    names = tuple(item.name(what) for item in node.items(what))
    if len(set(names)) < len(names):
        raise node.fail("a value stands here twice.")
    return ValueList(names, node.place)


def _categories(node: Node, _: Path) -> dict[str, ValueList]:
    return {key.text("a category's name"): _list_of(value, "a category") for key, value in node.pairs("'categories'")}


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


def _positive(what: str) -> Reader:
    return lambda node, _: exact_number(node, what, Fraction(0), above=True)


def _numbers(what: str, lowest: Fraction | None, *, identity: bool) -> Reader:
    def read(node: Node, _: Path) -> Numbers:
        if identity and node.value == "identity":
            return Numbers(None, node.place)
        pairs = node.pairs(what)
        return Numbers({key.name(what): exact_number(value, what, lowest) for key, value in pairs}, node.place)

    return read


def tree_of(node: Node, _: Path) -> Tree:
    """A tree: keys of mappings are inner nodes, what lists hold are leaves."""
    return Tree.from_paths(list(_paths(node, ())), node.place)


def _paths(node: Node, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], Name]]:
    """(place, inner nodes from the top, leaf): keys of mappings are inner nodes, what lists hold are leaves."""
    if node.is_mapping:
        for key, value in node.pairs("a tree"):
            if isinstance(value.value, list):
                yield from _paths(value, (*above, key.text("a branch's name")))
            elif value.value is None:
                yield key.place, above, key.name("a leaf")
            else:
                yield value.place, (*above, key.text("a branch's name")), value.name("a leaf")
        return
    for item in node.items("a branch of a tree"):
        if isinstance(item.value, list):
            yield from _paths(item, above)
        else:
            yield item.place, above, item.name("a leaf")


def _tree_csv(node: Node, folder: Path) -> Tree:
    return read_tree_csv(folder / node.text("'tree_csv'"))


def _population(node: Node, _: Path) -> dict[str, str]:
    if not node.is_mapping:
        return {"table": node.text("'population'")}
    found = {key.text("a key"): value.text("a part of 'population'") for key, value in node.pairs("'population'")}
    if found.keys() - {"table", "query", "where"} or ("table" in found) == ("query" in found):
        raise node.fail("'population' has a table or a query, and may have a condition: where.")
    return found


def _columns(node: Node, _: Path) -> tuple[str, ...]:
    items = node.items("'original_qi'") if isinstance(node.value, list) else [node]
    return tuple(item.text("a column") for item in items)


def _hierarchies(node: Node, folder: Path) -> Any:
    from sqlaudit.hierarchies.read import read_section  # which reads nodes, so it cannot be imported above

    return read_section(node, folder)


def _attributes(node: Node, folder: Path) -> dict[str, dict[str, Any]]:
    pairs = node.pairs("'sensitive'")
    return {key.text("an attribute's name"): _section(value, OF_AN_ATTRIBUTE, folder) for key, value in pairs}


OF_AN_ATTRIBUTE: Mapping[str, Reader] = {
    "categories": _categories,
    "dont_care": _values,
    "must_occur": _values,
    "order": _values,
    "tree": tree_of,
    "tree_csv": _tree_csv,
    "class_function": _numbers("'class_function'", None, identity=True),
    "width": _positive("'width'"),
    "kappa": _positive("'kappa'"),
    "alpha": _numbers("'alpha'", Fraction(0), identity=False),
}
OF_THE_FILE: Mapping[str, Reader] = {
    "sensitive": _attributes,
    "population": _population,
    "original_qi": _columns,
    "hierarchies": _hierarchies,
}
"""Sections of later commands join here; an unknown key stays an error."""
