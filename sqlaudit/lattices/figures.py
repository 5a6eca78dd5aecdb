"""Verdicts of many nodes from their classes: a statement a chunk, and a few more where a model needs them.

Everything that classes decide comes back as counts, one row a node. What floats cannot tell is decided exactly from the
count vectors concerned; what is judged by combinations of facts is judged once a combination. Figures of the whole
table (average risk, say) are judged from the sizes of a node's classes, worst-case disclosure from their signatures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number
from sqlaudit.base.sql import Raw, environment, render
from sqlaudit.classes.facts import Fact, Signatures
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.engines.contract import Engine
from sqlaudit.lattices.coding import Attribute, decides, inherited
from sqlaudit.lattices.rollup import Chunk
from sqlaudit.lattices.verdicts import Failure, Node, NodeClasses, Verdict
from sqlaudit.models.base import MAX_COMBINATIONS, Context, Model, expression
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.diversity import DISTINCT, LARGEST, EntropyDiversity, head
from sqlaudit.models.judge import Asked, compares, merged_facts

# What is asked of the classes of every node, as SQL over count vectors: the models' own facts and predicates.
#
# A requirement becomes a check: a predicate that is true for a class that falls short. Most models say it themselves.
# Where one is judged in Python by combinations of facts, or decided exactly at its limit, the few combinations that
# occur are judged once for all nodes and become a predicate, too.

DIALECT = "duckdb"
GROUPED = "sqlaudit_grouped"
"""Stands for the FROM item of the classes in prepared statements."""
_NARROW = 2**62


@dataclass(frozen=True)
class ClassCheck:
    """A requirement over classes.

    Args:
        name: of its verdict in SQL. item: the requirement. sensitive: the attribute it speaks of, for reports.
        failing: SQL over facts, true for a class that falls short. doubtful: true where floats cannot tell.
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
    def position(self) -> int:
        """The attribute's place."""
        return self.attribute.position

    def words(self) -> list[str]:
        """The names of its words."""
        return [name for name, _ in self.attribute.words]

    def shown(self, wide: str) -> dict[str, Any]:
        """The block as the templates read it."""
        packing = self.attribute.packing
        names = self.words()
        lanes = [
            (f"c{lane}", name, shift) for name, word in zip(names, packing.words, strict=True) for lane, shift in word
        ]
        return {
            "position": self.position,
            "words": names,
            "lanes": lanes,
            "mask": 2**packing.bits - 1,
            "facts": [(fact.name, _expression(fact, self.attribute, wide)) for fact in self.facts],
            "checks": [{"name": c.name, "failing": c.failing, "doubtful": c.doubtful} for c in self.checks],
        }

    def with_checks(self, checks: Mapping[str, ClassCheck]) -> AttributeBlock:
        """The same with other predicates."""
        return replace(self, checks=tuple(checks.get(check.name, check) for check in self.checks))


def blocks_of(attributes: Sequence[Attribute]) -> list[AttributeBlock]:
    """The blocks of all attributes with the requirements that decide by classes; never empty."""
    found = []
    number = 0
    for attribute in attributes:
        checks: list[ClassCheck] = []
        models: list[Model] = []
        for item in attribute.asked:
            if not decides(item) or item.model.verdict_by_level:
                continue
            models.append(item.model)
            if item.model.by_signatures:
                continue
            failing = expression("never") if item.model.by_combinations else item.model.failing()
            checks.append(ClassCheck(f"r{number}", item, failing, item.model.doubtful()))
            number += 1
        found.append(AttributeBlock(attribute, tuple(merged_facts(models)), tuple(checks)))
    return found


def wide_type(attributes: Sequence[Attribute], rows: int) -> str:
    """The narrowest type that holds the products of counts and limits: a plain integer unless the table is large."""
    limits = [
        value
        for attribute in attributes
        for item in attribute.asked
        for value in item.model.values.values()
        if isinstance(value, Fraction)
    ]
    factor = max((limit.denominator + abs(limit.numerator) for limit in limits), default=1)
    lanes = max((attribute.table.distinct for attribute in attributes if attribute.table), default=1)
    height = max((item.model.unit() for attribute in attributes for item in attribute.asked), default=1)
    return "BIGINT" if 8 * (rows + 1) ** 2 * factor * (lanes + height + 64) < _NARROW else "HUGEINT"


def prepared(template: str, step: str, **parameters: Any) -> Statement:
    """A statement over `GROUPED`, to be placed over the classes of any nodes."""
    return render(template, DIALECT, step=step, grouped=Raw(GROUPED), **parameters)


def placed(statement: Statement, grouped: str) -> Statement:
    """A prepared statement over these classes."""
    return replace(statement, sql=statement.sql.replace(GROUPED, grouped))


def _expression(fact: Fact, attribute: Attribute, wide: str) -> str:
    """A fact over the lanes of a count vector."""
    totals = attribute.table.totals if attribute.table else ()
    context = {
        "lane_totals": totals,
        "form": "packed",
        "wide": wide,
        "dialect": DIALECT,
        "total": attribute.table.total if attribute.table else 0,
    }
    macros = environment().get_template("classes/_facts.sql").make_module(context)
    return str(getattr(macros, fact.macro)(**fact.arguments)).strip()


# Worst-case disclosure of many nodes: most are settled in the database, the rest by the program over signatures.
#
# With k pieces of knowledge somebody is certain as soon as a class has at most k + 1 different values, and negated
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

    @property
    def knowledge(self) -> int:
        """How many pieces of knowledge decide."""
        return self.item.model.knowledge()

    @property
    def limit(self) -> Fraction:
        """What disclosure must stay below."""
        return Fraction(self.item.model.required or 0)

    def failing(self, chunk: Chunk) -> dict[int, Number | None]:
        """The nodes whose maximum disclosure reaches the limit, with it; None where a bound was enough."""
        left = list(chunk.nodes)
        found: dict[int, Number | None] = {}
        for place in self._settled(chunk, left, (DISTINCT,), ""):
            found[place] = 1
        left = [place for place in left if place not in found]
        for place in self._settled(chunk, left, self._bound_facts(), self._bound()):
            found[place] = None
        left = [place for place in left if place not in found]
        for place, signatures in self._signatures(chunk, left):
            level = maximum_disclosure(signatures, self.knowledge)[self.knowledge].maximum
            if level >= self.limit:
                found[place] = level
        return found

    def _settled(self, chunk: Chunk, places: Sequence[int], facts: Sequence[Fact], reached: str) -> list[int]:
        """The nodes that facts of single classes show to be unsafe."""
        if not places:
            return []
        statement = prepared(
            "lattices/lattice_disclosed.sql",
            "certain disclosure",
            block=self._block(facts),
            ids=list(places),
            reached=reached,
        )
        rows = self.workbench.run(placed(statement, chunk.sql))
        if reached:
            return [int(place) for place, classes in rows if classes]
        return [int(place) for place, fewest in rows if fewest <= self.knowledge + 1]

    def _bound_facts(self) -> tuple[Fact, ...]:
        return (LARGEST, head(self.knowledge + 1))

    def _bound(self) -> str:
        """SQL: the negated atoms' disclosure r1 / (n − r2 − … − r(k+1)) reaches the limit."""
        rest = f"(n - {head(self.knowledge + 1).name} + largest)"
        return expression("reaches", count="largest", rest=rest, limit=self.limit) if self.limit else "TRUE"

    def _signatures(self, chunk: Chunk, places: Sequence[int]) -> list[tuple[int, Signatures]]:
        if not places:
            return []
        of_chunk = {place: chunk.nodes[place] for place in places}
        return signatures_of(self.workbench, self.attribute, self.wide, Chunk(chunk.sql, of_chunk), self.knowledge)

    def _block(self, facts: Sequence[Fact]) -> dict[str, object]:
        return AttributeBlock(self.attribute, tuple(facts), ()).shown(self.wide)


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
    statement = prepared(
        "lattices/lattice_signatures.sql",
        "signatures of nodes",
        block=AttributeBlock(attribute, (top,), ()).shown(wide),
        ids=list(chunk.nodes),
        depth=depth,
    )
    place, n, *counts, classes = workbench.columns_as_arrays(placed(statement, chunk.sql)).values()
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
    statement = prepared(
        "lattices/lattice_entropies.sql",
        "entropies of nodes",
        block=AttributeBlock(attribute, model.facts(), ()).shown(wide),
        ids=list(chunk.nodes),
        level=model.levels()["l"].expression,
    )
    return {int(place): float(least) for place, least in workbench.run(placed(statement, chunk.sql))}


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
        asked = [(attribute, item) for attribute in self.attributes for item in attribute.asked if decides(item)]
        self.by_level = [item for _, item in asked if item.model.verdict_by_level]
        self.disclosures = [
            NodeDisclosure(self.workbench, attribute, item, self.wide)
            for attribute, item in asked
            if item.model.by_signatures
        ]
        self._prepared: dict[tuple[Any, ...], Any] = {}

    def verdicts(self, chunk: Chunk) -> list[Verdict]:
        """The verdicts of a chunk's nodes."""
        blocks = self._with_combinations(chunk)
        figures = self._figures(chunk, blocks)
        unsure = [
            place
            for place in chunk.nodes
            if any(count for name, count in figures.get(place, {}).items() if name.endswith("_doubtful"))
        ]
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
        rows = self.workbench.run(placed(self._prepared[key], chunk.sql))
        names = self._columns(blocks)
        return {int(row[0]): dict(zip(names, row[1:], strict=True)) for row in rows}

    def _columns(self, blocks: Sequence[AttributeBlock]) -> list[str]:
        names = ["classes", "smallest", "smallest_left", "failing_rows"]
        names += [] if self.names() == self.names(prunable=True) else ["prunable_rows"]
        for block in blocks:
            for check in block.checks:
                names += [f"{check.name}_classes", f"{check.name}_rows"]
                names += [f"{check.name}_doubtful"] if check.doubtful else []
        return names

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
        found = self.workbench.run(placed(statement, chunk.sql))
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
        for place, size, classes in self.workbench.run(placed(statement, chunk.sql)):
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
