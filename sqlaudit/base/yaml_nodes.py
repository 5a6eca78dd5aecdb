"""The text of a YAML file as nodes; what a small file may unfold to, by nesting and by aliases, is bounded."""

from __future__ import annotations

import yaml

from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.nodes import DEEPEST, Node

_MERGE = "tag:yaml.org,2002:merge"


def composed(content: str, file: str) -> Node | None:
    """The nodes of a text, None for an empty one; `file` is its name in errors.

    Raises:
        InputError: it is not YAML.
        UsageError: a node contains itself, is nested more than `DEEPEST` deep, or is repeated by aliases without end.
        RecursionError: it is nested so deeply that the parser gives up.
    """
    try:
        root = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise InputError(f"{file}{line}: is not YAML ({_problem(error)}).") from None
    return None if root is None else _Reading(file, _nodes_allowed(content)).node(root, ())


def _problem(error: yaml.YAMLError) -> str:
    return "the indentation or a bracket is wrong" if getattr(error, "context", None) else "a sign is out of place"


def _nodes_allowed(content: str) -> int:
    """How many nodes may come from a text: without aliases each takes a character, and few people need many aliases."""
    return 10_000 + 10 * len(content)


class _Reading:
    """From PyYAML's nodes, where an alias is the same node again, to ours, where it is a copy.

    Args:
        file: what errors call it. allowed: how many nodes it may unfold to.
    """

    def __init__(self, file: str, allowed: int) -> None:
        self._file, self._left = file, allowed

    def node(self, node: yaml.Node, above: tuple[yaml.Node, ...]) -> Node:
        """The node with all that is in it; `above` are those that hold it."""
        place = f"{self._file}, line {node.start_mark.line + 1}"
        if node in above:
            raise UsageError(f"{place}: contains itself.")
        if len(above) >= DEEPEST:
            raise UsageError(f"{place}: is nested more than {DEEPEST} deep.")
        self._left -= 1
        if self._left < 0:
            raise UsageError(f"{place}: aliases repeat so much that the file means more than can be read.")
        above = (*above, node)
        if isinstance(node, yaml.ScalarNode):
            return Node(None if node.tag == "tag:yaml.org,2002:null" else node.value, place)
        if isinstance(node, yaml.SequenceNode):
            return Node([self.node(item, above) for item in node.value], place)
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, place, above)

    def _mapping(self, node: yaml.MappingNode, place: str, above: tuple[yaml.Node, ...]) -> Node:
        own = [(key, value) for key, value in node.value if key.tag != _MERGE]
        pairs = [(self.node(key, above), self.node(value, above)) for key, value in own]
        merges = [self.node(value, above) for key, value in node.value if key.tag == _MERGE]
        merged = [pair for value in merges for pair in _to_merge(value)]
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
