"""What somebody knows, from a YAML file: people, basic implications about them, and what to ask.

    people:
      Charlie: {age: 24, sex: M}      # by quasi-identifiers; or by the entity column: Charlie: 4711
      Hannah: {age: 23, sex: F}
    knowledge:
      - if: {Hannah: flu}             # everything under `if` holds ...
        then: {Charlie: flu}          # ... so at least one thing under `then` does
      - never: {Charlie: mumps}       # Charlie does not have mumps; several things: not all of them
    ask: {Charlie: flu}

Different names are different persons. Values are taken as they are written; a plain null is NULL. Under `then` a person
may have a list of values: one of them. Errors name the line, never a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Name, Node, load_nodes, nodes_of

_KEYS = ("people", "knowledge", "ask", "sensitive")
_RULES = ("if", "then", "never")


@dataclass(frozen=True)
class NamedPerson:
    """A person, by the value of the entity column or by quasi-identifiers, and where that is written."""

    label: str
    entity: Name
    key: Mapping[str, Name] | None
    place: str


@dataclass(frozen=True)
class NamedAtom:
    """A person has a value."""

    person: str
    value: Name
    place: str


@dataclass(frozen=True)
class KnownRule:
    """If everything in `if_all` holds, something in `then_any` does; nothing in it means: it never all holds."""

    if_all: tuple[NamedAtom, ...]
    then_any: tuple[NamedAtom, ...]
    place: str


@dataclass(frozen=True)
class Knowledge:
    """What is known and asked; `sensitive` names the attribute, empty when there is only one."""

    people: Mapping[str, NamedPerson]
    rules: tuple[KnownRule, ...]
    ask: tuple[NamedAtom, ...]
    sensitive: str = ""


def load_knowledge(path: str | Path) -> Knowledge:
    """The knowledge in a YAML file.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: it is not of the shape above; the sentence names file and line, never a value.
    """
    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path}: is empty; it needs people and what to ask.")
    return _read(root)


def read_knowledge(given: Mapping[str, Any]) -> Knowledge:
    """The same from a Python mapping.

    Raises:
        UsageError: as `load_knowledge`.

    Example:
        >>> known = read_knowledge({"people": {"Ed": {"age": 24}}, "ask": {"Ed": "flu"}})
        >>> known.people["Ed"].key, known.ask[0].value
        ({'age': '24'}, 'flu')
    """
    return _read(nodes_of(given, "the knowledge"))


def _read(root: Node) -> Knowledge:
    sections = _sections(root, _KEYS, "the file")
    for needed in ("people", "ask"):
        if needed not in sections:
            raise root.fail(f"{needed!r} is missing.")
    people = {key.text("a person's name"): _person(key, value) for key, value in sections["people"].pairs("'people'")}
    rules = tuple(_rule(item, people) for item in _listed(sections.get("knowledge"), "'knowledge'"))
    ask = tuple(_atoms(sections["ask"], people, "'ask'"))
    if not ask:
        raise sections["ask"].fail("nothing is asked.")
    sensitive = sections["sensitive"].text("'sensitive'") if "sensitive" in sections else ""
    return Knowledge(people, rules, ask, sensitive)


def _sections(node: Node, known: tuple[str, ...], what: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for key, value in node.pairs(what):
        name = key.text("a key")
        if name not in known:
            raise key.fail(f"there is no key {name!r} here.{closest(name, known)} There are: {', '.join(known)}.")
        found[name] = value
    return found


def _listed(node: Node | None, what: str) -> list[Node]:
    return [] if node is None or node.value is None else node.items(what)


def _person(key: Node, value: Node) -> NamedPerson:
    label = key.text("a person's name")
    if not value.is_mapping:
        return NamedPerson(label, value.name("a person"), None, value.place)
    named = {column.text("a column"): cell.name("a value") for column, cell in value.pairs("a person")}
    return NamedPerson(label, None, named, value.place)


def _rule(node: Node, people: Mapping[str, NamedPerson]) -> KnownRule:
    sections = _sections(node, _RULES, "a piece of knowledge")
    if "never" in sections and len(sections) > 1:
        raise node.fail("'never' stands alone, without 'if' and 'then'.")
    condition = "never" if "never" in sections else "if"
    if_all = tuple(_atoms(sections[condition], people, f"'{condition}'")) if condition in sections else ()
    if len({atom.person for atom in if_all}) < len(if_all):
        raise node.fail(f"one person has two values under '{condition}', which nobody has at once.")
    then_any = tuple(_atoms(sections["then"], people, "'then'")) if "then" in sections else ()
    if condition == "if" and not then_any:
        raise node.fail("'then' is missing; what can not all be so stands under 'never'.")
    if condition == "never" and not if_all:
        raise node.fail("'never' is empty.")
    return KnownRule(if_all, then_any, node.place)


def _atoms(node: Node, people: Mapping[str, NamedPerson], what: str) -> Iterator[NamedAtom]:
    """Atoms from {person: value}, {person: [values]}, or a list of such mappings."""
    if not node.is_mapping and isinstance(node.value, list):
        for item in node.items(what):
            yield from _atoms(item, people, what)
        return
    for key, value in node.pairs(what):
        label = key.text("a person's name")
        if label not in people:
            raise key.fail("this person does not stand under 'people'.")
        listed = value.items("values") if isinstance(value.value, list) and not value.is_mapping else [value]
        for item in listed:
            yield NamedAtom(label, item.name("a value"), item.place)
