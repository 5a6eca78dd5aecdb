"""Verdicts of many nodes from their classes: a statement a chunk, and a few more where a model needs them.

Everything that classes decide comes back as counts, one row a node. Where floats do not decide, the count vectors
concerned do, exactly; what is judged by combinations of facts is judged once a combination. Figures of the whole
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

from sqlaudit.base.errors import Undecidable
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

# The figures of the classes of every node, as SQL over count vectors: the models' own facts and predicates.
#
# A requirement becomes a check: a predicate that is true for a class that fails. Most models have it themselves.
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
        name: of its verdict in SQL.
        item: the requirement.
        failing: SQL over facts, true for a class that fails.
        doubtful: SQL over facts, true where floats do not decide; empty where they do.
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

    def parameters(self, wide: str) -> dict[str, object]:
        """Return the block as the templates read it."""
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
        """Return the block with each check changed."""
        return replace(self, checks=tuple(change(self, check) for check in self.checks))


def blocks_of(attributes: Sequence[Attribute]) -> list[AttributeBlock]:
    """Return the blocks of all attributes with the requirements that decide by classes; never empty."""
    blocks = []
    numbers = count()
    for attribute in attributes:
        requirements = [item for item in attribute.deciding if not item.model.verdict_by_level]
        checks = []
        for item in requirements:
            if item.model.pieces() is not None:
                continue
            failing = expression("never") if item.model.by_combinations else item.model.failing()
            checks.append(ClassCheck(f"r{next(numbers)}", item, failing, item.model.doubtful()))
        facts = merged_facts([item.model for item in requirements])
        blocks.append(AttributeBlock(attribute, tuple(facts), tuple(checks)))
    return blocks


def wide_type(attributes: Sequence[Attribute], rows: int) -> str:
    """Return the narrowest type that holds products of counts and limits: a plain integer unless the table is large."""
    models = [item.model for attribute in attributes for item in attribute.asked]
    limits = [value for model in models for value in model.values.values() if isinstance(value, Fraction)]
    factor = max((limit.denominator + abs(limit.numerator) for limit in limits), default=1)
    lanes = max((attribute.table.distinct for attribute in attributes if attribute.table), default=1)
    height = max((model.unit() for model in models), default=1)
    return "BIGINT" if 8 * (rows + 1) ** 2 * factor * (lanes + height + 64) < _NARROW else "HUGEINT"


def over(chunk: Chunk, template: str, step: str, **parameters: Any) -> Statement:
    """Return a statement over the classes of a chunk."""
    return render(template, DIALECT, step=step, grouped=chunk, **parameters)


def _expression(fact: Fact, attribute: Attribute, wide: str) -> str:
    """Return the SQL of a fact over the lanes of a count vector."""
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
        """Return the nodes whose maximum disclosure reaches the limit, with it; None where a bound was enough."""
        knowledge, limit = self.item.model.knowledge(), Fraction(self.item.model.required or 0)
        most = head(knowledge + 1)
        # the negated atoms' disclosure r1 / (n − r2 − … − r(k+1)) reaches the limit
        rest = f"(n - {most.name} + largest)"
        bound = expression("reaches", count="largest", rest=rest, limit=limit) if limit else "TRUE"
        fewest = self._figures(chunk, (DISTINCT,), "")
        failing: dict[int, Number | None] = {number: 1 for number, values in fewest.items() if values <= knowledge + 1}
        undecided = chunk.select(number for number in chunk.nodes if number not in failing)
        reaching = self._figures(undecided, (LARGEST, most), bound)
        failing |= {number: None for number, classes in reaching.items() if classes}
        undecided = chunk.select(number for number in chunk.nodes if number not in failing)
        if undecided.nodes:
            for number, signatures in signatures_of(self.workbench, self.attribute, self.wide, undecided, knowledge):
                level = maximum_disclosure(signatures, knowledge)[knowledge].maximum
                if level >= limit:
                    failing[number] = level
        return failing

    def _figures(self, chunk: Chunk, facts: tuple[Fact, ...], reached: str) -> dict[int, int]:
        """Return for each node the least fact of a class, or the number of classes that reach a bound.

        A single class shows that a node is unsafe.
        """
        if not chunk.nodes:
            return {}
        block = AttributeBlock(self.attribute, facts, ()).parameters(self.wide)
        ids = list(chunk.nodes)
        statement = over(
            chunk, "lattices/lattice_disclosed.sql", "certain disclosure", block=block, ids=ids, reached=reached
        )
        return {int(number): figure for number, figure in self.workbench.run(statement)}


def signatures_of(
    workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk, knowledge: int
) -> list[tuple[int, Signatures]]:
    """Return the signatures of the nodes of a chunk by their ids, for up to so many pieces of knowledge.

    Args:
        workbench: where the classes lie.
        attribute: the sensitive attribute.
        wide: the type in which products of counts fit.
        chunk: the nodes.
        knowledge: not more than the attribute has values.
    """
    depth = min(knowledge + 1, attribute.table.distinct if attribute.table else 1)
    top = Fact("top_counts", "top", {"count": depth})
    statement = over(
        chunk,
        "lattices/lattice_signatures.sql",
        "signatures of nodes",
        block=AttributeBlock(attribute, (top,), ()).parameters(wide),
        ids=list(chunk.nodes),
        depth=depth,
    )
    ids, n, *counts, classes = workbench.columns_as_arrays(statement).values()
    counts += [np.zeros_like(n)] * (knowledge + 1 - depth)
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    ends = [*starts[1:], len(ids)]
    return [
        (int(ids[a]), Signatures.from_columns([column[a:b] for column in (n, *counts, classes)]))
        for a, b in zip(starts, ends, strict=True)
    ]


def entropies_of(workbench: Engine, attribute: Attribute, wide: str, chunk: Chunk) -> dict[int, float]:
    """Return exp(entropy) of the class that has the least, by the ids of a chunk's nodes."""
    model = EntropyDiversity({}, Context(attribute.table, 0))
    statement = over(
        chunk,
        "lattices/lattice_entropies.sql",
        "entropies of nodes",
        block=AttributeBlock(attribute, model.facts(), ()).parameters(wide),
        ids=list(chunk.nodes),
        level=model.levels()["l"].expression,
    )
    return {int(number): float(least) for number, least in workbench.run(statement)}


Combination = tuple[Any, ...]


@dataclass
class NodeFigures:
    """Verdicts of the nodes of chunks.

    Args:
        workbench: where the chunks lie.
        attributes: the requirements of each sensitive attribute.
        rows: rows of the table.
        limit_rows: how many of them may be suppressed.
    """

    workbench: Engine
    attributes: Sequence[Attribute]
    rows: int
    limit_rows: int
    _judged: dict[tuple[str, Combination], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = blocks_of(self.attributes)
        self.wide = wide_type(self.attributes, self.rows)
        requirements = [(attribute, item) for attribute in self.attributes for item in attribute.deciding]
        self.by_level = [item for _, item in requirements if item.model.verdict_by_level]
        self.disclosures = [
            NodeDisclosure(self.workbench, attribute, item, self.wide)
            for attribute, item in requirements
            if item.model.pieces() is not None
        ]
        self._statements: dict[tuple[str, ...], tuple[Statement, list[str]]] = {}

    def verdicts(self, chunk: Chunk) -> list[Verdict]:
        """Return the verdicts of a chunk's nodes."""
        blocks = self._with_combinations(chunk)
        figures = self._figures(chunk, blocks)
        doubtful = {
            number
            for number, by_name in figures.items()
            if any(classes for name, classes in by_name.items() if name.endswith("_doubtful"))
        }
        part = chunk.select(number for number in chunk.nodes if number in doubtful)
        if part.nodes:
            figures |= self._figures(part, self._with_exact(part, blocks))
        verdicts = {number: self._verdict(node, figures.get(number, {})) for number, node in chunk.nodes.items()}
        self._judge_levels(chunk, verdicts)
        self._judge_signatures(chunk, verdicts)
        return list(verdicts.values())

    @property
    def classes_decide(self) -> bool:
        """True if each class of a node fails or does not, and nothing else decides."""
        return not self.by_level and not self.disclosures

    @property
    def by_size(self) -> bool:
        """True if the sizes of a node's classes alone decide it, by a least one."""
        return all(item.model.fewest is not None for attribute in self.attributes for item in attribute.deciding)

    def verdict_of_sizes(self, node: Node, sizes: NDArray[np.int64]) -> Verdict:
        """Return the verdict of a node with classes of these sizes, where they decide."""
        fewest = {check.name: check.model.fewest or 0 for block in self.blocks for check in block.checks}
        fails = sizes < max(fewest.values(), default=0)
        left, short = sizes[~fails], sizes[fails]
        figures = {"classes": len(sizes), "smallest": int(sizes.min()), "failing_rows": int(short.sum())}
        figures["smallest_left"] = int(left.min()) if len(left) else 0
        for name, least in fewest.items():
            below = short[short < least]
            figures |= {f"{name}_classes": len(below), f"{name}_rows": int(below.sum())}
        return self._verdict(node, figures)

    def failing(self, chunk: Chunk, *, leave_out: bool = False) -> dict[str, Any]:
        """Return the parameters of the templates by which classes of a chunk are suppressed.

        These are blocks whose predicates decide every class, and the names of the predicates; none without a
        suppression limit, unless `leave_out`.
        """
        if not self.limit_rows and not leave_out:
            without_checks = [replace(block, facts=(), checks=()) for block in self.blocks]
            return {"blocks": [block.parameters(self.wide) for block in without_checks], "any": []}
        blocks = self._with_combinations(chunk)
        if any(check.doubtful for block in blocks for check in block.checks):
            blocks = self._with_exact(chunk, blocks)
        return {"blocks": [block.parameters(self.wide) for block in blocks], "any": self.names()}

    def judge_vectors(self, vectors: Chunk) -> NDArray[np.int64]:
        """Return a number for each class of a chunk in which every class has its own id: bit i is set if it fails
        check i."""
        blocks = self._with_combinations(vectors)
        if any(check.doubtful for block in blocks for check in block.checks):
            blocks = self._with_exact(vectors, blocks)
        statement = over(
            vectors,
            "lattices/lattice_judged.sql",
            "classes that fail",
            blocks=[block.parameters(self.wide) for block in blocks],
            checks=self.names(),
        )
        numbers, failing = self.workbench.columns_as_arrays(statement).values()
        judged = np.zeros(len(numbers), dtype=np.int64)
        judged[numbers] = failing
        return judged

    def names(self, prunable: bool = False) -> list[str]:
        """Return the names of the verdicts that make a class fail; `prunable`: those that coarser nodes inherit."""
        checks = [check for block in self.blocks for check in block.checks]
        return [check.name for check in checks if not prunable or inherited(check.model, self.limit_rows)]

    def classes(self, chunk: Chunk, knowledge: int) -> Iterator[NodeClasses]:
        """Yield the classes of a chunk's nodes, attribute by attribute, for up to so many pieces of knowledge."""
        for attribute in self.attributes:
            if attribute.table is None:
                continue
            least = entropies_of(self.workbench, attribute, self.wide, chunk)
            depth = min(knowledge, attribute.table.distinct)
            for number, signatures in signatures_of(self.workbench, attribute, self.wide, chunk, depth):
                yield NodeClasses(chunk.nodes[number], attribute.position, signatures, least[number])

    # --- classes ---

    def _figures(self, chunk: Chunk, blocks: Sequence[AttributeBlock]) -> dict[int, dict[str, int]]:
        """Return for each node its figures by name; the statement is rendered once for the same predicates."""
        checks = [check for block in blocks for check in block.checks]
        key = tuple(check.failing for check in checks)
        if key not in self._statements:
            deciding, prunable = self.names(), self.names(prunable=True)
            statement = over(
                Chunk(_GROUPED, {}),
                "lattices/lattice_figures.sql",
                "figures of nodes",
                blocks=[block.parameters(self.wide) for block in blocks],
                any=deciding,
                prunable=None if deciding == prunable else prunable,
            )
            names = ["classes", "smallest", "smallest_left", "failing_rows"]
            names += [] if deciding == prunable else ["prunable_rows"]
            for check in checks:
                counted = ("classes", "rows", "doubtful") if check.doubtful else ("classes", "rows")
                names += [f"{check.name}_{what}" for what in counted]
            self._statements = {key: (statement, names)}
        statement, names = self._statements[key]
        rows = self.workbench.run(replace(statement, sql=statement.sql.replace(_GROUPED, chunk.sql)))
        return {int(row[0]): dict(zip(names, row[1:], strict=True)) for row in rows}

    def _verdict(self, node: Node, figures: Mapping[str, int]) -> Verdict:
        """Return the verdict that follows from the figures of a node; an empty table has no figures."""
        failing = int(figures.get("failing_rows", 0))
        fails = []
        for item, name in ((check.item, check.name) for block in self.blocks for check in block.checks):
            if classes := int(figures.get(f"{name}_classes", 0)):
                rows = int(figures[f"{name}_rows"])
                fails.append(Shortfall(item.requirement.text, item.sensitive, classes, rows))
        # Without a count of its own, what coarser nodes inherit is all that decides. No class left is a NULL.
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
        """Return the blocks, with a predicate for each model that combinations of its facts decide."""

        def changed(block: AttributeBlock, check: ClassCheck) -> ClassCheck:
            if not check.model.by_combinations:
                return check
            names = [fact.name for fact in check.model.facts()]
            occurring = self._read_combinations(chunk, block, names, "")
            failing = [facts for facts in occurring if self._judge_once(check, facts, check.model.falls_short)]
            return replace(check, failing=one_of(names, failing))

        return [block.with_checks(changed) for block in self.blocks]

    def _with_exact(self, chunk: Chunk, blocks: Sequence[AttributeBlock]) -> list[AttributeBlock]:
        """Return the blocks, with the classes that floats do not decide decided by their counts."""

        def changed(block: AttributeBlock, check: ClassCheck) -> ClassCheck:
            if not check.doubtful or not block.words:
                return check
            holds = partial(self._holds, check.model, block.attribute.packing)
            occurring = self._read_combinations(chunk, block, block.words, check.doubtful)
            failing = [words for words in occurring if not self._judge_once(check, words, holds)]
            if not failing:
                return check
            exactly = expression("both", first=check.doubtful, second=one_of(block.words, failing))
            return replace(check, failing=expression("either", first=check.failing, second=exactly))

        return [block.with_checks(changed) for block in blocks]

    def _read_combinations(
        self, chunk: Chunk, block: AttributeBlock, names: Sequence[str], condition: str
    ) -> list[Combination]:
        """Return the combinations of the named columns that occur in classes with a condition.

        Raises:
            UsageError: there are too many.
        """
        statement = over(
            chunk,
            "lattices/lattice_combinations.sql",
            "combinations of facts",
            block=block.parameters(self.wide),
            names=list(names),
            condition=condition,
            limit=MAX_COMBINATIONS + 1,
        )
        rows = self.workbench.run(statement)
        if len(rows) > MAX_COMBINATIONS:
            raise Undecidable(
                f"The classes have more than {MAX_COMBINATIONS:,} different combinations of values, too many to decide."
            )
        return [tuple(row) for row in rows]

    def _judge_once(self, check: ClassCheck, combination: Combination, judge: Callable[[Combination], bool]) -> bool:
        key = (check.name, combination)
        if key not in self._judged:
            self._judged[key] = judge(combination)
        return self._judged[key]

    @staticmethod
    def _holds(model: Model, packing: Packing, words: Combination) -> bool:
        mask = 2**packing.bits - 1
        lanes = zip(packing.words, words, strict=True)
        counts = {lane: int(word) >> shift & mask for places, word in lanes for lane, shift in places}
        return model.holds({lane: count for lane, count in counts.items() if count})

    # --- figures of the whole table ---

    def _judge_levels(self, chunk: Chunk, verdicts: dict[int, Verdict]) -> None:
        """Judge the requirements that compare a figure of the whole table, and change the verdicts."""
        if not self.by_level:
            return
        sizes: dict[int, list[tuple[int, int]]] = {}
        for number, size, classes in self.workbench.run(over(chunk, "lattices/lattice_sizes.sql", "sizes of classes")):
            sizes.setdefault(number, []).append((int(size), int(classes)))
        for number in verdicts.keys() & sizes:
            class_sizes = ClassSizes(tuple(sizes[number]), False)
            for item in self.by_level:
                level = item.model.level_by_sizes(class_sizes)
                if level is None or not compares(level, item.model.operator, item.model.required):
                    verdicts[number] = self._fail(verdicts[number], item, level)

    def _judge_signatures(self, chunk: Chunk, verdicts: dict[int, Verdict]) -> None:
        """Judge worst-case disclosure, and change the verdicts; nodes that fail otherwise are left out."""
        for disclosure in self.disclosures:
            part = chunk.select(
                number for number, verdict in verdicts.items() if verdict.prunable_safe and verdict.classes
            )
            for number, level in disclosure.failing(part).items():
                verdicts[number] = self._fail(verdicts[number], disclosure.item, level)

    def _fail(self, verdict: Verdict, item: Asked, level: Number | None) -> Verdict:
        """Return the verdict with one more requirement that the whole node fails."""
        prunable = verdict.prunable_safe and not inherited(item.model, self.limit_rows)
        short = Shortfall(item.requirement.text, item.sensitive, None, None, level)
        return replace(verdict, safe=False, prunable_safe=prunable, fails=(*verdict.fails, short))


def one_of(names: Sequence[str], rows: Sequence[Combination]) -> str:
    """Return SQL that is true if the named columns have one of these combinations of whole numbers."""
    if not rows:
        return expression("never")
    if len(names) == 1:
        return expression("one_of", fact=names[0], values=[int(row[0]) for row in rows])
    return expression("one_of_tuples", facts=names, rows=[[int(value) for value in row] for row in rows])
