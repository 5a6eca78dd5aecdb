"""Verdicts of many nodes from their classes: a statement a chunk, and a few more where a model needs them.

Everything that classes decide comes back as counts, one row a node. What floats cannot tell is decided exactly from the
count vectors concerned; what is judged by combinations of facts is judged once a combination. Figures of the whole
table (average risk, say) are judged from the sizes of a node's classes, worst-case disclosure from their signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number
from sqlaudit.base.sql import environment, render
from sqlaudit.classes.facts import Fact, Signatures
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.classes.histogram import Packing
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.coding import Attribute, inherited
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import Node, NodeClasses, Shortfall, Verdict
from sqlaudit.models.base import MAX_COMBINATIONS, Context, Model, expression
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.diversity import DISTINCT, LARGEST, EntropyDiversity, head
from sqlaudit.models.judge import Asked, compares, merged_facts

# What is asked of the classes of every node, as SQL over count vectors: the models' own facts and predicates.
#
# A requirement becomes a check: a predicate that is true for a class that fails. Most models say it themselves.
# Where one is judged in Python by combinations of facts, or decided exactly at its limit, the few combinations that
# occur are judged once for all nodes and become a predicate, too.

DIALECT = "duckdb"
_GROUPED = "sqlaudit_grouped"
"""Stands for the FROM item of the classes in a statement that is kept."""
_NARROW = 2**62


@dataclass(frozen=True)
class ClassCheck:
    """A requirement over classes.

    Args:
        name: of its verdict in SQL. item: the requirement. sensitive: the attribute it speaks of, for reports.
        failing: SQL over facts, true for a class that fails. doubtful: true where floats cannot tell.
    """

    name: str
    item: Asked
    failing: str
    doubtful: str = ""

    @property
    def model(self) -> Model:
        """The model that is required."""
        return self.item.model


@dataclass(frozen=True)
class AttributeBlock:
    """One sensitive attribute (or none) in a statement over classes: lanes, facts and checks."""

    attribute: Attribute
    facts: tuple[Fact, ...]
    checks: tuple[ClassCheck, ...]

    @property
    def words(self) -> list[str]:
        """The names of its words."""
        return [name for name, _ in self.attribute.words]

    def shown(self, wide: str) -> dict[str, Any]:
        """The block as the templates read it."""
        packing = self.attribute.packing
        words = zip(self.words, packing.words, strict=True)
        lanes = [(f"c{lane}", name, shift) for name, word in words for lane, shift in word]
        return {
            "position": self.attribute.position,
            "words": self.words,
            "lanes": lanes,
            "mask": 2**packing.bits - 1,
            "facts": [(fact.name, _expression(fact, self.attribute, wide)) for fact in self.facts],
            "checks": [{"name": c.name, "failing": c.failing, "doubtful": c.doubtful} for c in self.checks],
        }

    def with_checks(self, change: Callable[[AttributeBlock, ClassCheck], ClassCheck]) -> AttributeBlock:
        """The same with what becomes of each check."""
        return replace(self, checks=tuple(change(self, check) for check in self.checks))


def blocks_of(attributes: Sequence[Attribute]) -> list[AttributeBlock]:
    """The blocks of all attributes with the requirements that decide by classes; never empty."""
    found = []
    numbers = count()
    for attribute in attributes:
        asked = [item for item in attribute.deciding if not item.model.verdict_by_level]
        checks = []
        for item in (one for one in asked if not one.model.by_signatures):
            failing = expression("never") if item.model.by_combinations else item.model.failing()
            checks.append(ClassCheck(f"r{next(numbers)}", item, failing, item.model.doubtful()))
        found.append(AttributeBlock(attribute, tuple(merged_facts([item.model for item in asked])), tuple(checks)))
    return found


def wide_type(attributes: Sequence[Attribute], rows: int) -> str:
    """The narrowest type that holds the products of counts and limits: a plain integer unless the table is large."""
    models = [item.model for attribute in attributes for item in attribute.asked]
    limits = [value for model in models for value in model.values.values() if isinstance(value, Fraction)]
    factor = max((limit.denominator + abs(limit.numerator) for limit in limits), default=1)
    lanes = max((attribute.table.distinct for attribute in attributes if attribute.table), default=1)
    height = max((model.unit() for model in models), default=1)
    return "BIGINT" if 8 * (rows + 1) ** 2 * factor * (lanes + height + 64) < _NARROW else "HUGEINT"


def over(chunk: Chunk, template: str, step: str, **parameters: Any) -> Statement:
    """A statement over the classes of a chunk."""
    return render(template, DIALECT, step=step, grouped=chunk, **parameters)


def _expression(fact: Fact, attribute: Attribute, wide: str) -> str:
    """A fact over the lanes of a count vector."""
    table = attribute.table
    context = {
        "lane_totals": table.totals if table else (),
        "form": "packed",
        "wide": wide,
        "dialect": DIALECT,
        "total": table.total if table else 0,
    }
    macros = environment().get_template("classes/_facts.sql").make_module(context)
    return str(getattr(macros, fact.macro)(**fact.arguments)).strip()


# Worst-case disclosure of many nodes: most are settled in the database, the rest by the program over signatures.
#
# With k pieces of knowledge a person is certain as soon as a class has at most k + 1 different values, and negated
# atoms alone (the l-diversity attacker) never disclose more than all knowledge does. Both are facts of single classes,
# so that the database finds most unsafe nodes; only what is left has its signatures read. Source: Martin et al.,
# Worst-Case Background Knowledge, sections 3.2 to 3.4.


@dataclass(frozen=True)
class NodeDisclosure:
    """One requirement on worst-case disclosure, asked of many nodes.

    Args:
        workbench: where the classes lie. attribute: the sensitive attribute. item: the requirement.
        wide: the type in which products of counts fit.
    """

    workbench: Engine
    attribute: Attribute
    item: Asked
    wide: str

    def failing(self, chunk: Chunk) -> dict[int, Number | None]:
        """The nodes whose maximum disclosure reaches the limit, with it; None where a bound was enough."""
        knowledge, limit = self.item.model.knowledge(), Fraction(self.item.model.required or 0)
        most = head(knowledge + 1)
        # the negated atoms' disclosure r1 / (n − r2 − … − r(k+1)) reaches the limit
        rest = f"(n - {most.name} + largest)"
        bound = expression("reaches", count="largest", rest=rest, limit=limit) if limit else "TRUE"
        fewest = self._figures(chunk, (DISTINCT,), "")
        found: dict[int, Number | None] = {place: 1 for place, values in fewest.items() if values <= knowledge + 1}
        left = chunk.select(place for place in chunk.nodes if place not in found)
        reaching = self._figures(left, (LARGEST, most), bound)
        found |= {place: None for place, classes in reaching.items() if classes}
        left = chunk.select(place for place in chunk.nodes if place not in found)
        if left.nodes:
            for place, signatures in signatures_of(self.workbench, self.attribute, self.wide, left, knowledge):
                level = maximum_disclosure(signatures, knowledge)[knowledge].maximum
                if level >= limit:
                    found[place] = level
        return found

    def _figures(self, chunk: Chunk, facts: tuple[Fact, ...], reached: str) -> dict[int, int]:
        """By node the least fact of a class, or how many classes reach a bound: single classes show what is unsafe."""
        if not chunk.nodes:
            return {}
        block = AttributeBlock(self.attribute, facts, ()).shown(self.wide)
        places = list(chunk.nodes)
        statement = over(
            chunk, "lattices/lattice_disclosed.sql", "certain disclosure", block=block, ids=places, reached=reached
        )
        return {int(place): figure for place, figure in self.workbench.run(statement)}


def signatures_of(
    workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk, knowledge: int
) -> list[tuple[int, Signatures]]:
    """The signatures of the nodes of a chunk by their ids, for up to so many pieces of knowledge.

    Args:
        workbench: where the classes lie. attribute: the sensitive attribute. wide: the type in which products of counts
            fit. chunk: the nodes. knowledge: not more than the attribute has values.
    """
    depth = min(knowledge + 1, attribute.table.distinct if attribute.table else 1)
    top = Fact("top_counts", "top", {"count": depth})
    statement = over(
        chunk,
        "lattices/lattice_signatures.sql",
        "signatures of nodes",
        block=AttributeBlock(attribute, (top,), ()).shown(wide),
        ids=list(chunk.nodes),
        depth=depth,
    )
    place, n, *counts, classes = workbench.columns_as_arrays(statement).values()
    counts += [np.zeros_like(n)] * (knowledge + 1 - depth)
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
    ends = [*starts[1:], len(place)]
    return [
        (int(place[a]), Signatures.from_columns([column[a:b] for column in (n, *counts, classes)]))
        for a, b in zip(starts, ends, strict=True)
    ]


def entropies_of(workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk) -> dict[int, float]:
    """exp(entropy) of the class that has the least, by the ids of a chunk's nodes."""
    model = EntropyDiversity({}, Context(attribute.table, 0))
    statement = over(
        chunk,
        "lattices/lattice_entropies.sql",
        "entropies of nodes",
        block=AttributeBlock(attribute, model.facts(), ()).shown(wide),
        ids=list(chunk.nodes),
        level=model.levels()["l"].expression,
    )
    return {int(place): float(least) for place, least in workbench.run(statement)}


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
        asked = [(attribute, item) for attribute in self.attributes for item in attribute.deciding]
        self.by_level = [item for _, item in asked if item.model.verdict_by_level]
        self.disclosures = [
            NodeDisclosure(self.workbench, attribute, item, self.wide)
            for attribute, item in asked
            if item.model.by_signatures
        ]
        self._kept: dict[tuple[str, ...], tuple[Statement, list[str]]] = {}

    def verdicts(self, chunk: Chunk) -> list[Verdict]:
        """The verdicts of a chunk's nodes."""
        blocks = self._with_combinations(chunk)
        figures = self._figures(chunk, blocks)
        unsure = {
            place
            for place, found in figures.items()
            if any(classes for name, classes in found.items() if name.endswith("_doubtful"))
        }
        part = chunk.select(place for place in chunk.nodes if place in unsure)
        if part.nodes:
            figures |= self._figures(part, self._with_exact(part, blocks))
        verdicts = {place: self._verdict(node, figures.get(place, {})) for place, node in chunk.nodes.items()}
        self._judge_levels(chunk, verdicts)
        self._judge_signatures(chunk, verdicts)
        return list(verdicts.values())

    @property
    def by_size(self) -> bool:
        """Whether the sizes of a node's classes alone decide it, by a least one."""
        return all(item.model.fewest is not None for one in self.attributes for item in one.deciding)

    def verdict_of_sizes(self, node: Node, sizes: NDArray[np.int64]) -> Verdict:
        """The verdict of a node with classes of these sizes, where they decide."""
        fewest = {check.name: check.model.fewest or 0 for block in self.blocks for check in block.checks}
        fails = sizes < max(fewest.values(), default=0)
        left, short = sizes[~fails], sizes[fails]
        figures = {"classes": len(sizes), "smallest": int(sizes.min()), "failing_rows": int(short.sum())}
        figures["smallest_left"] = int(left.min()) if len(left) else 0
        for name, least in fewest.items():
            below = short[short < least]
            figures |= {f"{name}_classes": len(below), f"{name}_rows": int(below.sum())}
        return self._verdict(node, figures)

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
        checks = [check for block in blocks for check in block.checks]
        key = tuple(check.failing for check in checks)
        if key not in self._kept:
            every, prunable = self.names(), self.names(prunable=True)
            statement = over(
                Chunk(_GROUPED, {}),
                "lattices/lattice_figures.sql",
                "figures of nodes",
                blocks=[block.shown(self.wide) for block in blocks],
                any=every,
                prunable=None if every == prunable else prunable,
            )
            names = ["classes", "smallest", "smallest_left", "failing_rows"]
            names += [] if every == prunable else ["prunable_rows"]
            for check in checks:
                counted = ("classes", "rows", "doubtful") if check.doubtful else ("classes", "rows")
                names += [f"{check.name}_{what}" for what in counted]
            self._kept = {key: (statement, names)}
        statement, names = self._kept[key]
        rows = self.workbench.run(replace(statement, sql=statement.sql.replace(_GROUPED, chunk.sql)))
        return {int(row[0]): dict(zip(names, row[1:], strict=True)) for row in rows}

    def _verdict(self, node: Node, figures: Mapping[str, int]) -> Verdict:
        failing = int(figures.get("failing_rows", 0))
        fails = []
        for item, name in ((check.item, check.name) for block in self.blocks for check in block.checks):
            if classes := int(figures.get(f"{name}_classes", 0)):
                rows = int(figures[f"{name}_rows"])
                fails.append(Shortfall(item.requirement.text, item.sensitive, classes, rows))
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

        def changed(block: AttributeBlock, check: ClassCheck) -> ClassCheck:
            if not check.model.by_combinations:
                return check
            names = [fact.name for fact in check.model.facts()]
            occurring = self._occurring(chunk, block, names, "")
            failing = [found for found in occurring if self._once(check, found, check.model.falls_short)]
            return replace(check, failing=one_of(names, failing))

        return [block.with_checks(changed) for block in self.blocks]

    def _with_exact(self, chunk: Chunk, blocks: Sequence[AttributeBlock]) -> list[AttributeBlock]:
        """The blocks, with the classes that floats cannot tell decided by their counts."""

        def changed(block: AttributeBlock, check: ClassCheck) -> ClassCheck:
            if not check.doubtful or not block.words:
                return check
            holds = partial(self._holds, check.model, block.attribute.packing)
            occurring = self._occurring(chunk, block, block.words, check.doubtful)
            failing = [words for words in occurring if not self._once(check, words, holds)]
            if not failing:
                return check
            listed = expression("both", first=check.doubtful, second=one_of(block.words, failing))
            return replace(check, failing=expression("either", first=check.failing, second=listed))

        return [block.with_checks(changed) for block in blocks]

    def _occurring(
        self, chunk: Chunk, block: AttributeBlock, names: Sequence[str], condition: str
    ) -> list[Combination]:
        statement = over(
            chunk,
            "lattices/lattice_combinations.sql",
            "combinations of facts",
            block=block.shown(self.wide),
            names=list(names),
            condition=condition,
            limit=MAX_COMBINATIONS + 1,
        )
        found = self.workbench.run(statement)
        if len(found) > MAX_COMBINATIONS:
            raise UsageError(
                f"The classes have more than {MAX_COMBINATIONS:,} different combinations of values, too many to decide."
            )
        return [tuple(row) for row in found]

    def _once(self, check: ClassCheck, found: Combination, judge: Callable[[Combination], bool]) -> bool:
        key = (check.name, found)
        if key not in self._judged:
            self._judged[key] = judge(found)
        return self._judged[key]

    @staticmethod
    def _holds(model: Model, packing: Packing, words: Combination) -> bool:
        mask = 2**packing.bits - 1
        lanes = zip(packing.words, words, strict=True)
        counts = {lane: int(word) >> shift & mask for places, word in lanes for lane, shift in places}
        return model.holds({lane: count for lane, count in counts.items() if count})

    # --- figures of the whole table ---

    def _judge_levels(self, chunk: Chunk, verdicts: dict[int, Verdict]) -> None:
        """Add the models that compare a figure of the whole table."""
        if not self.by_level:
            return
        sizes: dict[int, list[tuple[int, int]]] = {}
        for place, size, classes in self.workbench.run(over(chunk, "lattices/lattice_sizes.sql", "sizes of classes")):
            sizes.setdefault(place, []).append((int(size), int(classes)))
        for place in verdicts.keys() & sizes:
            found = ClassSizes(tuple(sizes[place]), False)
            for item in self.by_level:
                level = item.model.level_by_sizes(found)
                if level is None or not compares(level, item.model.operator, item.model.required):
                    verdicts[place] = self._failed(verdicts[place], item, level)

    def _judge_signatures(self, chunk: Chunk, verdicts: dict[int, Verdict]) -> None:
        """Add worst-case disclosure; nodes that fail otherwise are not asked."""
        for disclosure in self.disclosures:
            asked = chunk.select(place for place, found in verdicts.items() if found.prunable_safe and found.classes)
            for place, level in disclosure.failing(asked).items():
                verdicts[place] = self._failed(verdicts[place], disclosure.item, level)

    def _failed(self, verdict: Verdict, item: Asked, level: Number | None) -> Verdict:
        """The verdict with one more requirement that the whole node fails."""
        prunable = verdict.prunable_safe and not inherited(item.model, self.limit_rows)
        short = Shortfall(item.requirement.text, item.sensitive, None, None, level)
        return replace(verdict, safe=False, prunable_safe=prunable, fails=(*verdict.fails, short))


def one_of(names: Sequence[str], rows: Sequence[Combination]) -> str:
    """SQL: the named columns are one of these combinations of whole numbers."""
    if not rows:
        return expression("never")
    if len(names) == 1:
        return expression("one_of", fact=names[0], values=[int(row[0]) for row in rows])
    return expression("one_of_tuples", facts=names, rows=[[int(value) for value in row] for row in rows])
