"""Verdicts of many nodes from their classes: a statement a chunk, and a few more where a model needs them.

Everything that classes decide comes back as counts, one row a node. What floats cannot tell is decided exactly from the
count vectors concerned; what is judged by combinations of facts is judged once a combination. Figures of the whole
table (average risk, say) are judged from the sizes of a node's classes, worst-case disclosure from their signatures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.classes.found import ClassSizes
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.attributes import Attribute, decides, inherited
from sqlaudit.lattices.checks import AttributeBlock, ClassCheck, blocks_of, placed, prepared, wide_type
from sqlaudit.lattices.node_disclosure import NodeDisclosure, entropies_of, signatures_of
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import Failure, Node, NodeClasses, Verdict
from sqlaudit.models.base import expression
from sqlaudit.models.judge import Asked, compares
from sqlaudit.models.kinds import MAX_COMBINATIONS

Combination = tuple[Any, ...]


@dataclass
class NodeFigures:
    """Verdicts of the nodes of chunks.

    Args:
        workbench: where the chunks lie. attributes: what is required of whom.
        rows: rows of the table. limit_rows: how many of them may be suppressed.
    """

    workbench: Engine
    attributes: Sequence[Attribute]
    rows: int
    limit_rows: int
    _judged: dict[tuple[str, Combination], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = blocks_of(self.attributes)
        self.wide = wide_type(self.attributes, self.rows)
        self.by_level = [
            item
            for attribute in self.attributes
            for item in attribute.asked
            if decides(item) and item.model.verdict_by_level
        ]
        signed = [
            (attribute, item)
            for attribute in self.attributes
            for item in attribute.asked
            if decides(item) and item.model.by_signatures
        ]
        self.disclosures = [NodeDisclosure(self.workbench, attribute, item, self.wide) for attribute, item in signed]
        self._prepared: dict[tuple[Any, ...], Any] = {}

    def verdicts(self, chunk: Chunk) -> list[Verdict]:
        """The verdicts of a chunk's nodes."""
        blocks = self._with_combinations(chunk)
        figures = self._figures(chunk, blocks)
        unsure = [place for place in chunk.nodes if self._doubtful(figures.get(place, {}))]
        if unsure:
            part = Chunk(chunk.sql, {place: chunk.nodes[place] for place in unsure})
            figures |= self._figures(part, self._with_exact(part, blocks))
        found = {place: self._verdict(node, figures.get(place, {})) for place, node in chunk.nodes.items()}
        return list(self._with_signatures(chunk, self._with_levels(chunk, found)).values())

    def failing(self, chunk: Chunk) -> dict[str, Any]:
        """Which classes of a chunk are suppressed, for the templates: blocks whose predicates decide every class, and
        the names of these; none without a suppression limit."""
        if not self.limit_rows:
            nothing = [replace(block, facts=(), checks=()) for block in self.blocks]
            return {"blocks": [block.shown(self.wide) for block in nothing], "any": []}
        blocks = self._with_combinations(chunk)
        if any(check.doubtful for block in blocks for check in block.checks):
            blocks = self._with_exact(chunk, blocks)
        return {"blocks": [block.shown(self.wide) for block in blocks], "any": self.names()}

    def names(self, prunable: bool = False) -> list[str]:
        """The names of the verdicts that make a class fail; of those alone that coarser nodes inherit."""
        checks = [check for block in self.blocks for check in block.checks]
        return [check.name for check in checks if not prunable or inherited(check.model, self.limit_rows)]

    def classes(self, chunk: Chunk, knowledge: int) -> Iterator[NodeClasses]:
        """The classes of a chunk's nodes, attribute by attribute, for up to so many pieces of knowledge."""
        for attribute in self.attributes:
            if attribute.table is None:
                continue
            least = entropies_of(self.workbench, attribute, self.wide, chunk)
            depth = min(knowledge, attribute.table.distinct)
            for place, signatures in signatures_of(self.workbench, attribute, self.wide, chunk, depth):
                yield NodeClasses(chunk.nodes[place], attribute.position, signatures, least[place])

    # --- classes ---

    def _figures(self, chunk: Chunk, blocks: Sequence[AttributeBlock]) -> dict[int, dict[str, int]]:
        key = tuple(check.failing for block in blocks for check in block.checks)
        if key not in self._prepared:
            every, prunable = self.names(), self.names(prunable=True)
            self._prepared = {
                key: prepared(
                    "lattices/lattice_figures.sql",
                    "figures of nodes",
                    blocks=[block.shown(self.wide) for block in blocks],
                    any=every,
                    prunable=None if every == prunable else prunable,
                )
            }
        rows = self.workbench.run(placed(self._prepared[key], self._wanted(chunk)))
        names = self._columns(blocks)
        return {int(row[0]): dict(zip(names, row[1:], strict=True)) for row in rows}

    def _wanted(self, chunk: Chunk) -> str:
        """The chunk's classes as a FROM item."""
        return chunk.sql

    def _columns(self, blocks: Sequence[AttributeBlock]) -> list[str]:
        names = ["classes", "smallest", "smallest_left", "failing_rows"]
        names += [] if self.names() == self.names(prunable=True) else ["prunable_rows"]
        for block in blocks:
            for check in block.checks:
                names += [f"{check.name}_classes", f"{check.name}_rows"]
                names += [f"{check.name}_doubtful"] if check.doubtful else []
        return names

    @staticmethod
    def _doubtful(figures: Mapping[str, int]) -> bool:
        return any(count for name, count in figures.items() if name.endswith("_doubtful"))

    def _verdict(self, node: Node, figures: Mapping[str, int]) -> Verdict:
        failing = int(figures.get("failing_rows", 0))
        fails = []
        for block in self.blocks:
            for check in block.checks:
                if classes := int(figures.get(f"{check.name}_classes", 0)):
                    rows = int(figures[f"{check.name}_rows"])
                    fails.append(Failure(check.item.requirement.text, check.item.sensitive, classes, rows))
        return Verdict(
            node=node,
            safe=failing <= self.limit_rows,
            prunable_safe=int(figures.get("prunable_rows", failing)) <= self.limit_rows,
            classes=int(figures.get("classes", 0)),
            failing_rows=failing,
            smallest=int(figures.get("smallest", 0)),
            fails=tuple(fails),
            smallest_left=int(figures.get("smallest_left") or 0),
        )

    # --- predicates from combinations that were judged in Python ---

    def _with_combinations(self, chunk: Chunk) -> list[AttributeBlock]:
        """The blocks, with a predicate for each model that combinations of its facts decide."""
        blocks = []
        for block in self.blocks:
            checks = {}
            for check in block.checks:
                if check.model.by_combinations:
                    names = [fact.name for fact in check.model.facts()]
                    failing = [
                        found for found in self._occurring(chunk, block, names, "") if self._falls_short(check, found)
                    ]
                    checks[check.name] = replace(check, failing=one_of(names, failing))
            blocks.append(block.with_checks(checks))
        return blocks

    def _with_exact(self, chunk: Chunk, blocks: Sequence[AttributeBlock]) -> list[AttributeBlock]:
        """The blocks, with the classes that floats cannot tell decided by their counts."""
        decided = []
        for block in blocks:
            checks = {}
            for check in block.checks:
                if check.doubtful and block.words():
                    found = self._occurring(chunk, block, block.words(), check.doubtful)
                    failing = [words for words in found if not self._holds(check, block, words)]
                    if failing:
                        listed = one_of(block.words(), failing)
                        both = expression("both", first=check.doubtful, second=listed)
                        checks[check.name] = replace(
                            check, failing=expression("either", first=check.failing, second=both)
                        )
            decided.append(block.with_checks(checks))
        return decided

    def _occurring(
        self, chunk: Chunk, block: AttributeBlock, names: Sequence[str], condition: str
    ) -> list[Combination]:
        statement = prepared(
            "lattices/lattice_combinations.sql",
            "combinations of facts",
            block=block.shown(self.wide),
            names=list(names),
            condition=condition,
            limit=MAX_COMBINATIONS + 1,
        )
        found = self.workbench.run(placed(statement, self._wanted(chunk)))
        if len(found) > MAX_COMBINATIONS:
            raise UsageError(
                f"The classes have more than {MAX_COMBINATIONS:,} different combinations of values, too many to decide."
            )
        return [tuple(row) for row in found]

    def _falls_short(self, check: ClassCheck, found: Combination) -> bool:
        key = (check.name, found)
        if key not in self._judged:
            self._judged[key] = check.model.falls_short(found)
        return self._judged[key]

    def _holds(self, check: ClassCheck, block: AttributeBlock, words: Combination) -> bool:
        key = (check.name, words)
        if key not in self._judged:
            packing = block.attribute.packing
            mask = 2**packing.bits - 1
            lanes = zip(packing.words, words, strict=True)
            counts = {lane: int(word) >> shift & mask for places, word in lanes for lane, shift in places}
            self._judged[key] = check.model.holds({lane: count for lane, count in counts.items() if count})
        return self._judged[key]

    # --- figures of the whole table ---

    def _with_levels(self, chunk: Chunk, found: dict[int, Verdict]) -> dict[int, Verdict]:
        """The verdicts, with those models that compare a figure of the whole table."""
        if not self.by_level:
            return found
        sizes: dict[int, list[tuple[int, int]]] = {place: [] for place in chunk.nodes}
        statement = prepared("lattices/lattice_sizes.sql", "sizes of classes")
        for place, size, classes in self.workbench.run(placed(statement, self._wanted(chunk))):
            if place in sizes:
                sizes[place].append((int(size), int(classes)))
        return {
            place: self._leveled(verdict, ClassSizes(tuple(sizes[place]), False)) for place, verdict in found.items()
        }

    def _leveled(self, verdict: Verdict, sizes: ClassSizes) -> Verdict:
        for item in self.by_level:
            failure = _by_level(item, sizes)
            if failure is not None:
                verdict = failed(verdict, failure, inherited(item.model, self.limit_rows))
        return verdict

    def _with_signatures(self, chunk: Chunk, found: dict[int, Verdict]) -> dict[int, Verdict]:
        """The verdicts, with worst-case disclosure; nodes that fail otherwise are not asked."""
        for disclosure in self.disclosures:
            asked = Chunk(
                chunk.sql,
                {
                    place: chunk.nodes[place]
                    for place, verdict in found.items()
                    if verdict.prunable_safe and verdict.classes
                },
            )
            for place, level in disclosure.failing(asked).items():
                item = disclosure.item
                failure = Failure(item.requirement.text, item.sensitive, None, None, level)
                found[place] = failed(found[place], failure, inherited(item.model, self.limit_rows))
        return found


def failed(verdict: Verdict, failure: Failure, prunable: bool) -> Verdict:
    """The verdict with one more requirement that the whole node fails."""
    return replace(
        verdict, safe=False, prunable_safe=verdict.prunable_safe and not prunable, fails=(*verdict.fails, failure)
    )


def _by_level(item: Asked, sizes: ClassSizes) -> Failure | None:
    model = item.model
    if not sizes.sizes:
        return None
    level = model.level_by_sizes(sizes)
    if level is not None and compares(level, model.operator, model.required):
        return None
    return Failure(item.requirement.text, item.sensitive, None, None, level)


def one_of(names: Sequence[str], rows: Sequence[Combination]) -> str:
    """SQL: the named columns are one of these combinations of whole numbers."""
    if not rows:
        return expression("never")
    if len(names) == 1:
        return expression("one_of", fact=names[0], values=[int(row[0]) for row in rows])
    return expression("one_of_tuples", facts=names, rows=[[int(value) for value in row] for row in rows])
