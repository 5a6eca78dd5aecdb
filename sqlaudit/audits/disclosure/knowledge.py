"""The knowledge of an attacker about named people, as a YAML file or a mapping states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Name, Node, load_nodes, nodes_of

# The knowledge of an attacker, from a YAML file: people, basic implications about them, and the statements to ask.
#
#     people:
#       Charlie: {age: 24, sex: M}      # by quasi-identifiers; or by the entity column: Charlie: 4711
#       Hannah: {age: 23, sex: F}
#     knowledge:
#       - if: {Hannah: flu}             # everything under `if` holds ...
#         then: {Charlie: flu}          # ... so at least one thing under `then` does
#       - never: {Charlie: mumps}       # Charlie does not have mumps; several things: not all of them
#     ask: {Charlie: flu}
#
# Different names are different people. Values are read as they are written; a plain null is NULL. Under `then` a person
# may have a list of values, of which one is true. Errors name the line, never a value.

_KEYS = ("people", "knowledge", "ask", "sensitive")
_RULES = ("if", "then", "never")


@dataclass(frozen=True)
class NamedPerson:
    """A person, by the value of the entity column or by quasi-identifiers, with the file and line of the entry."""

    label: str
    entity: Name
    key: Mapping[str, Name] | None
    location: str


@dataclass(frozen=True)
class NamedAtom:
    """The statement that a person has a value."""

    person: str
    value: Name
    location: str


@dataclass(frozen=True)
class KnowledgeRule:
    """A basic implication: if all of `if_all` is true, some of `then_any` is. Empty `then_any`: never all is true."""

    if_all: tuple[NamedAtom, ...]
    then_any: tuple[NamedAtom, ...]
    location: str


@dataclass(frozen=True)
class Knowledge:
    """The knowledge and the statements to ask; `sensitive` names the attribute, empty if there is only one."""

    people: Mapping[str, NamedPerson]
    rules: tuple[KnowledgeRule, ...]
    ask: tuple[NamedAtom, ...]
    sensitive: str = ""


def load_knowledge(path: str | Path) -> Knowledge:
    """Return the knowledge in a YAML file.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: the file is not of the shape above; the message names file and line, never a value.
    """
    root = load_nodes(path)
    if root is None:
        raise UsageError(f"{path} is empty. It needs 'people' and what to ask.")
    return _parse_knowledge(root)


def read_knowledge(mapping: Mapping[str, Any]) -> Knowledge:
    """Return the knowledge in a Python mapping of the same shape.

    Raises:
        UsageError: the mapping is not of this shape.

    Example:
        >>> known = read_knowledge({"people": {"Ed": {"age": 24}}, "ask": {"Ed": "flu"}})
        >>> known.people["Ed"].key, known.ask[0].value
        ({'age': '24'}, 'flu')
    """
    return _parse_knowledge(nodes_of(mapping, "the knowledge"))


def _parse_knowledge(root: Node) -> Knowledge:
    """Return the knowledge under a root node."""
    sections = _read_sections(root, _KEYS, "the file")
    for needed in ("people", "ask"):
        if needed not in sections:
            raise root.fail(f"{needed!r} is missing.")
    people = {
        key.text("a person's name"): _read_person(key, value) for key, value in sections["people"].pairs("'people'")
    }
    section = sections.get("knowledge")
    items = [] if section is None or section.value is None else section.items("'knowledge'")
    rules = tuple(_read_rule(rule_node, people) for rule_node in items)
    ask = tuple(_read_atoms(sections["ask"], people, "'ask'"))
    if not ask:
        raise sections["ask"].fail("there is nothing to ask.")
    sensitive = sections["sensitive"].text("'sensitive'") if "sensitive" in sections else ""
    return Knowledge(people, rules, ask, sensitive)


def _read_sections(node: Node, allowed: tuple[str, ...], what: str) -> dict[str, Node]:
    """Return the values under a node by key; refuse unknown keys."""
    sections: dict[str, Node] = {}
    for word, value in node.pairs(what):
        name = word.text("a key")
        if name not in allowed:
            raise word.fail(f"unknown key {name!r}.{closest(name, allowed)} Known keys: {', '.join(allowed)}.")
        sections[name] = value
    return sections


def _read_person(key: Node, value: Node) -> NamedPerson:
    label = key.text("a person's name")
    if not value.is_mapping:
        return NamedPerson(label, value.name("a person"), None, value.place)
    cells = {column.text("a column"): cell.name("a value") for column, cell in value.pairs("a person")}
    return NamedPerson(label, None, cells, value.place)


def _read_rule(node: Node, people: Mapping[str, NamedPerson]) -> KnowledgeRule:
    """Return a piece of knowledge from a node with `if` and `then`, or `never`."""
    sections = _read_sections(node, _RULES, "a piece of knowledge")
    if "never" in sections and len(sections) > 1:
        raise node.fail("'never' cannot be combined with 'if' and 'then'.")
    condition = "never" if "never" in sections else "if"
    if_all = tuple(_read_atoms(sections[condition], people, f"'{condition}'")) if condition in sections else ()
    if len({atom.person for atom in if_all}) < len(if_all):
        raise node.fail(f"'{condition}' gives one person two values.")
    then_any = tuple(_read_atoms(sections["then"], people, "'then'")) if "then" in sections else ()
    if condition == "if" and not then_any:
        raise node.fail("'then' is missing. Statements that cannot all be true belong under 'never'.")
    if condition == "never" and not if_all:
        raise node.fail("'never' is empty.")
    return KnowledgeRule(if_all, then_any, node.place)


def _read_atoms(node: Node, people: Mapping[str, NamedPerson], what: str) -> Iterator[NamedAtom]:
    """Yield atoms from {person: value}, {person: [values]}, or a list of such mappings."""
    if not node.is_mapping and isinstance(node.value, list):
        for entry in node.items(what):
            yield from _read_atoms(entry, people, what)
        return
    for word, value in node.pairs(what):
        label = word.text("a person's name")
        if label not in people:
            raise word.fail("this person is not listed under 'people'.")
        values = value.items("values") if isinstance(value.value, list) and not value.is_mapping else [value]
        for entry in values:
            yield NamedAtom(label, entry.name("a value"), entry.place)
