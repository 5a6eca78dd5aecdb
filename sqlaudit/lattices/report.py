"""The report of a lattice search: the node to publish, why others fail, the decided nodes, and the release."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.options import written
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import TABLE
from sqlaudit.hierarchies.levels import in_words
from sqlaudit.hierarchies.result import by_default
from sqlaudit.lattices.result import LatticeColumn, LatticeNode, LatticeResult, Levels, Published
from sqlaudit.lattices.verdicts import Shortfall, just_above, node_text
from sqlaudit.models.phrases import requirement_lines
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import MeasuredReport

# Pictures of a lattice: its nodes with their verdicts, the border of safety, and the loss of nodes.
#
# A small lattice is drawn node by node (Hasse diagram: a line joins a node to one that is a single level coarser). Of a
# larger one a grid shows, for the two columns that decide most, how many of the nodes with these levels are safe.

DRAWN = 120
"""The most nodes that are readable in one picture."""
MOST_BARS = 20
_OPEN, _SAFE, _UNSAFE = "open", "safe", "unsafe"


def nodes_picture(result: LatticeResult) -> doc.Picture | None:
    """The lattice node by node; None when it is too large, or all nodes have the same verdict."""
    if len(set(result.verdicts)) < 2 or len(result.verdicts) > DRAWN:
        return None
    kinds, names = _kinds(result), doc.joined(column.name for column in result.searched)
    rows: dict[int, list[Levels]] = defaultdict(list)
    top = tuple(column.height for column in result.searched)
    for node in kinds:
        rows[sum(node)].append(node)
    return doc.Picture(
        "graph",
        f"Nodes of the lattice: levels of {names}; lines lead to nodes one level coarser",
        {
            "nodes": [
                {"name": node_text(node), "x": place - (len(row) - 1) / 2, "y": height, "kind": kinds[node]}
                for height, row in sorted(rows.items())
                for place, node in enumerate(row)
            ],
            "edges": [[node_text(node), node_text(above)] for node in kinds for above in just_above(node, top)],
            "y": "sum of levels",
        },
    )


def grid_picture(result: LatticeResult) -> doc.Picture | None:
    """Safe nodes by the levels of the two most decisive columns; None for lattices that are drawn node by node."""
    if (found := _grid(result)) is None:
        return None
    low, high, counts, nodes = found
    names = [column.name for column in result.searched]
    return doc.Picture(
        "heat",
        f"Share of safe nodes by the levels of {names[low]} and {names[high]}"
        f"{' (decided nodes only)' if None in result.verdicts else ''}; a full square is 100%"
        f"{', the frame has the chosen node' if result.best else ''}",
        {
            "rows": _levels_of(result, low),
            "columns": _levels_of(result, high),
            "values": [[safe / nodes for safe in row] for row in counts],
            "texts": [[doc.part(safe, nodes) if safe else "" for safe in row] for row in counts],
            "x": names[high],
            "y": names[low],
            **({"marked": [result.best.levels[low], result.best.levels[high]]} if result.best else {}),
        },
    )


def grid_table(result: LatticeResult) -> doc.Table | None:
    """Return the grid as a table of numbers."""
    if (found := _grid(result)) is None:
        return None
    low, high, counts, nodes = found
    names = [column.name for column in result.searched]
    cells = ([f"{doc.count(safe)} of {doc.count(nodes)}" for safe in row] for row in counts)
    rows = ((level, *row) for level, row in zip(_levels_of(result, low), cells, strict=True))
    heads = [doc.Column(names[low]), *(doc.Column(level, True) for level in _levels_of(result, high))]
    return doc.table(heads, rows, f"Safe nodes by the levels of {names[low]} (rows) and {names[high]} (columns)")


def heights_table(result: LatticeResult) -> doc.Table | None:
    """The number of safe nodes by height in the lattice; None when no verdict is known."""
    if set(result.verdicts) <= {None}:
        return None
    tally: Counter[tuple[int, bool | None]] = Counter(
        (sum(node), verdict) for node, verdict in zip(result.every_node(), result.verdicts, strict=True)
    )
    signs = (True, False, None)
    rows = (
        (height, sum(tally[height, sign] for sign in signs), *(tally[height, sign] for sign in signs))
        for height in range(1 + sum(column.height for column in result.searched))
    )
    undecided = "#Not decided" if None in result.verdicts else None
    titles = ("#Sum of levels", "#Nodes", "#Safe", "#Not safe", undecided)
    return doc.table(titles, rows, "Safe nodes by the sum of their levels")


def losses_picture(nodes: Sequence[LatticeNode], title: str) -> doc.Picture | None:
    """The loss of nodes, smallest first; None with fewer than two losses."""
    priced = [node for node in nodes if node.loss is not None][:MOST_BARS]
    if len(priced) < 2:
        return None
    series = {title: [float(node.loss or 0) for node in priced]}
    return doc.bars(f"{title} of safe nodes, smallest first", (node_text(one.levels) for one in priced), series, title)


def _kinds(result: LatticeResult) -> Mapping[Levels, str]:
    """Return how each node is drawn."""
    signs = {True: _SAFE, False: _UNSAFE, None: _OPEN}
    kinds = {node: signs[verdict] for node, verdict in zip(result.every_node(), result.verdicts, strict=True)}
    kinds |= {node.levels: "minimal" for node in result.minimal or ()}
    return kinds | ({result.best.levels: "best"} if result.best else {})


def _grid(result: LatticeResult) -> tuple[int, int, list[list[int]], int] | None:
    """Two columns, that of fewer levels first, how many nodes with two of their levels are safe, and how many exist.

    Of all pairs of columns it is the one whose shares are the farthest apart.
    """
    able = [place for place, column in enumerate(result.searched) if column.height]
    if len(result.verdicts) <= DRAWN or len(able) < 2 or not any(result.verdicts):
        return None
    widths = [column.height + 1 for column in result.searched]
    safe = np.array([verdict is True for verdict in result.verdicts]).reshape(widths)
    tallies = {pair: _tally(safe, pair) for pair in combinations(able, 2)}

    def spread(pair: tuple[int, int]) -> tuple[float, int, int]:
        """The variance of the shares: columns whose levels make no difference have none."""
        found = tallies[pair]
        shares = [number / (safe.size // found.size) for number in found.ravel().tolist()]
        mean = sum(shares) / len(shares)
        return sum((share - mean) ** 2 for share in shares) / len(shares), -pair[0], -pair[1]

    chosen = max(tallies, key=spread)
    low, high = sorted(chosen, key=lambda place: (widths[place], place))
    found = tallies[chosen] if low < high else tallies[chosen].T
    return low, high, found.tolist(), safe.size // found.size


def _tally(safe: NDArray[np.bool_], pair: tuple[int, int]) -> NDArray[np.int64]:
    """The safe nodes by the levels of two columns."""
    found: NDArray[np.int64] = safe.sum(axis=tuple(place for place in range(safe.ndim) if place not in pair))
    return found


def _levels_of(result: LatticeResult, place: int) -> list[str]:
    column = result.searched[place]
    return [f"{level} {column.called(level)}" for level in range(len(column.levels))]


MOST_CURVES = 8
"""The most numbers of pieces of knowledge in one picture, and in one table."""
MOST_LINES = 60
_KNOWLEDGE = {False: "any basic implications", True: "negated atoms only"}


def disclosure_blocks(result: LatticeResult) -> Iterator[doc.Content]:
    """Entropy against worst-case disclosure at the nodes, for each sensitive attribute and each kind of knowledge.

    For every value that the smallest entropy of a class takes, the least maximum disclosure of the nodes with it.
    Source: Martin et al., Worst-Case Background Knowledge, section 4 and Figure 6.
    """
    for sensitive in dict.fromkeys(node.sensitive for node in result.disclosures):
        asked = [point.k for point in result.disclosures[0].curve]
        shown = list(asked)
        if len(asked) > MOST_CURVES:  # as many as can be shown, the first and the last among them
            shown = sorted({asked[round(place * (len(asked) - 1) / (MOST_CURVES - 1))] for place in range(MOST_CURVES)})
            yield f"Shown for k = {doc.listing(map(str, shown), MOST_CURVES)}; the JSON has all {len(asked)}."
        for negated, kind in _KNOWLEDGE.items():
            curves = {k: result.least_disclosure(k, sensitive, negated=negated) for k in shown}
            yield from _least_disclosure(curves, sensitive, kind)


def _least_disclosure(
    curves: Mapping[int, list[tuple[float, Fraction]]], sensitive: str, kind: str
) -> Iterator[doc.Content]:
    """A picture, a table, and how often more entropy goes with more disclosure; one sentence where nothing varies.

    `curves` are (entropy, least disclosure) by pieces of knowledge.
    """
    if len(flat := {least for curve in curves.values() for _, least in curve}) == 1:
        yield f"Maximum disclosure of {sensitive} is {doc.figure(flat.pop())} at every entropy and k ({kind})."
        return
    yield doc.curves(
        f"Least maximum disclosure of {sensitive} by the smallest entropy of a class ({kind})",
        {f"k = {k}": [(entropy, float(least)) for entropy, least in curve] for k, curve in curves.items()},
        f"smallest entropy of {sensitive} in a class (nats)",
        "least maximum disclosure",
        "lower left",
    )
    lines = list(zip(*curves.values(), strict=True))
    rows = ((doc.figure(line[0][0], 5), *(doc.figure(least) for _, least in line)) for line in lines[:MOST_LINES])
    more = f"; the first {MOST_LINES} of {doc.count(len(lines))} entropies" if len(lines) > MOST_LINES else ""
    heads = ("#Smallest entropy", *(f"#k = {k}" for k in curves))
    yield doc.table(heads, rows, f"Least disclosure of {sensitive}, {kind}{more}")
    rises = {k: sum(after > before for (_, before), (_, after) in pairwise(curve)) for k, curve in curves.items()}
    said = doc.listing((f"{doc.count(times)} for k = {k}" for k, times in rises.items() if times), MOST_CURVES)
    if said:
        yield f"Steps at which disclosure increases with entropy, of {doc.count(len(lines) - 1)}: {said}."


def local_blocks(result: LatticeResult) -> Iterator[doc.Content]:
    """The safe node of smallest loss on each strategy of generalization (OLA, step 2), in sentences."""
    local = result.local
    if local is None or not result.safe_nodes:
        return
    ways = doc.plural(local.strategies, "strategy", "strategies")
    without = f", {doc.count(local.without)} of them without a safe node" if local.without else ""
    yield (
        f"{ways}{without}. A strategy goes from the finest node to the coarsest, one level of one column at a time. "
        "Its local optimum is its safe node with the smallest loss."
    )
    if local.loss_decreases:
        yield f"At {doc.plural(local.loss_decreases, 'step')} between safe nodes, the coarser node has less loss."
    if local.optima is None:
        yield "Strategies are not counted by local optimum, because there are too many steps where loss decreases."


_SOUGHT = {
    "best": "best node",
    "minimal": "all minimal safe nodes",
    "all": "all safe nodes",
    "chain": "finest safe node of the chain",
}
MOST = 20
"""Nodes that a table of the report shows; the JSON has all of them."""
_STOPPED = {
    "budget": "Time limit reached",
    "interrupted": "Interrupted",
    "limit": "Stopped because there are too many minimal nodes",
}


class LatticeReport(MeasuredReport[LatticeResult]):
    """The report on a lattice search: the node to publish, why others fail, the decided nodes, and the release."""

    kind = "Generalization"
    method_title = "How it was searched"

    def headline(self, result: LatticeResult) -> doc.Toned:
        if not result.rows:
            return doc.warning("UNDETERMINED: the table has no rows")
        if result.complete and result.best is None:
            among = "with the requested levels" if _requested(result) else "in this lattice"
            return doc.bad(f"NO SAFE GENERALIZATION: none {among} meets the requirements")
        if not result.complete:
            so_far = "no safe generalization found yet" if result.best is None else "this is the best one so far"
            return doc.warning(f"INCOMPLETE: the search was stopped; {so_far}")
        answers = {
            "best": _publish(result),
            "chain": _publish(result),
            "minimal": f"{doc.plural(len(result.minimal or ()), 'minimal safe generalization')} (all that exist)",
            "all": f"{doc.count(result.safe or 0)} of {doc.plural(result.nodes, 'way')} to generalize "
            f"{'is' if result.safe == 1 else 'are'} safe",
        }
        return doc.good(answers[result.find])

    def key_figures(self, result: LatticeResult) -> Iterator[doc.KeyFigure]:
        best, top = result.best, result.top
        if best is not None:
            left = bool(best.failing_rows and best.smallest_left)
            smallest = (best.smallest_left if left else best.smallest) or 0
            yield doc.KeyFigure(doc.plural(smallest, "row"), "Smallest class left" if left else "Smallest class")
            if best.loss is not None:
                yield doc.KeyFigure(doc.figure(best.loss), _title(result))
        elif result.rows and top is not None and top.failing_rows:
            yield doc.KeyFigure(doc.with_share(top.failing_rows, result.rows), "Failing rows, coarsest levels", "bad")
        if best is not None and best.failing_rows:
            yield doc.KeyFigure(doc.with_share(best.failing_rows, result.rows), "Suppressed rows")
        elif result.safe is not None and result.rows:
            nodes = f"{doc.count(result.safe)} of {doc.count(result.nodes)}"
            yield doc.KeyFigure(nodes, "Safe generalizations", doc.bad_if(not result.safe))

    def opening(self, result: LatticeResult) -> Iterator[doc.Content]:
        rows, required = doc.plural(result.rows, "row"), doc.listing(result.requirements, None)
        allowed = f"; at most {doc.plural(result.limit_rows, 'suppressed row')}" if result.limit_rows else ""
        levels = _requested(result)
        requested = f"; requested levels: {doc.listing(levels, None)}" if levels else ""
        yield f"{result.target}: {rows}; required: {required}{requested}{allowed}."
        audit = result.published and result.published.audit
        if audit and not audit.failing:  # starred rows fail requirements, as the section on the release explains
            yield from requirement_lines(audit.checks, audit.rows)

    def lead(self, result: LatticeResult) -> Iterator[doc.Words]:
        best = result.best
        if best is not None:
            least = "Least loss: " if result.find in ("minimal", "all") else "Generalization: "
            classes = doc.plural(best.classes, "class", "classes")
            yield doc.Toned(f"{least}{_describe(result, best)}: {classes}.", "good" if result.complete else "warn")
        if result.complete:
            return
        yield doc.warning(f"{_STOPPED.get(result.stopped, 'Stopped')}; a better generalization may exist.")
        if result.unknown:
            yield f"Not decided: {doc.plural(result.unknown, 'node')} of {doc.count(result.nodes)}."
        if result.bound is not None:
            yield f"Proven: no safe node has a loss below {doc.figure(result.bound)}."
            if best is not None and best.loss is not None and 0 < result.bound < best.loss:
                below = math.ceil(1000 * (1 - result.bound / best.loss)) / 1000
                yield f"The loss of a better one is at most {doc.percent(below)} below this."

    def sections(self, result: LatticeResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Generalization", *_node(result))
        yield doc.section("Proposals", _proposals(result))
        yield doc.section("Why no generalization is safe", result.why)
        if result.find == "minimal" or (result.find == "all" and not result.safe_nodes):
            yield doc.section("Minimal safe generalizations", *_nodes(result, result.minimal, "minimal one"))
        safe_nodes = _nodes(result, result.safe_nodes, "safe one")
        yield doc.section("Safe generalizations", *safe_nodes, *local_blocks(result))
        yield doc.section("Generalizations along the chain", _chain(result))
        yield doc.section("Worst-case disclosure at the nodes", *disclosure_blocks(result))
        yield doc.section("The release", *_release(result.published))
        yield doc.section("The lattice", *_map(result), _columns(result), *by_default(result.columns, result.target))
        yield doc.section("Checked nodes, in order", *_walk(result), folded=True)

    def method(self, result: LatticeResult) -> Iterator[tuple[str, doc.Cell]]:
        decided = f"{doc.plural(result.nodes, 'node')}, {doc.count(result.checked)} checked"
        tagged = (result.tagged_safe or 0) + (result.tagged_unsafe or 0)
        if tagged:
            decided += f", {doc.count(tagged)} inferred"
        beta = "" if result.beta is None else f" with beta {doc.limit(result.beta)}"
        inherited = "yes" if result.monotone else "not with suppression for these requirements"
        can_fall = "no" if result.loss_monotone else "yes"
        measure = "loss (ARX)" if result.measure == "loss" else result.measure
        yield "searched for", f"{_SOUGHT[result.find]}, by {measure}{beta}"
        yield "algorithm", result.algorithm
        yield "lattice", decided
        yield "safe nodes", result.safe
        yield "coarser nodes stay safe", inherited
        yield "loss can fall at coarser nodes", can_fall
        yield "warnings only", ", ".join(result.warn_only)
        if result.best and result.complete and result.find != "chain":
            yield "proposals", result.why_no_proposals


def _requested(result: LatticeResult) -> list[str]:
    """Return the levels that were requested: `age 5 years`."""
    fixed = ((column, column.fixed) for column in result.searched)
    return [f"{written(column.name)} {column.called(level)}" for column, level in fixed if level is not None]


def _publish(result: LatticeResult) -> str:
    """Return what to publish: `Publish age in steps of 5; 2.2% of rows left out`."""
    best = result.best
    if best is None:
        return ""
    changed = _changes(result, best.levels).split(", ") if any(best.levels) else ["all columns unchanged"]
    share = f"; {doc.part(best.failing_rows, result.rows)} of rows left out" if best.failing_rows else ""
    return f"Publish {doc.listing(changed, None)}{share}"


def _describe(result: LatticeResult, node: LatticeNode) -> str:
    """A node in words: `age in steps of 10, sex as *; zip unchanged (levels 2,1,0)`."""
    same = doc.listed(one.name for one, level in zip(result.searched, node.levels, strict=True) if not level)
    dropped = doc.listed(column.name for column in result.columns if column.use == "drop")
    changed = _changes(result, node.levels) if any(node.levels) else ""
    said = (changed, same and f"{same} unchanged", dropped and f"{dropped} left out")
    return f"{'; '.join(filter(None, said))} (levels {node_text(node.levels)})"


def _changes(result: LatticeResult, levels: Levels) -> str:
    """The generalized columns of a node in words."""
    placed = zip(result.searched, levels, strict=True)
    return ", ".join(f"{one.name} {in_words(one.called(level))}" for one, level in placed if level) or "unchanged"


def _title(result: LatticeResult) -> str:
    special = {"loss": "Loss (ARX)", "precision": "Loss of precision", "class-size": "Average class size"}
    return special.get(result.measure, result.measure.replace("-", " ").capitalize())


def _node(result: LatticeResult) -> Iterator[doc.Content]:
    best = result.best
    if best is None:
        return
    placed = zip(result.searched, best.levels, strict=True)
    rows = ((written(column.name), f"{level} of {column.height}", _becoming(column, level)) for column, level in placed)
    drawn = [(one, level) for one, level in zip(result.searched, best.levels, strict=True) if one.groups]
    names = [f"{written(one.name)}: {one.called(level) if level else 'unchanged'}" for one, level in drawn]
    values = {"before": [one.groups[0] for one, _ in drawn], "after": [one.groups[level] for one, level in drawn]}
    if any(best.levels):
        yield doc.bars("Different values of each column, before and after", names, values, "different values")
    yield doc.table(("Column", "#Level", "Generalized values"), rows)
    if best.fails:
        yield "Why rows were suppressed:"
        yield (_short(one, result.rows) for one in best.fails)


def _proposals(result: LatticeResult) -> doc.Table | None:
    """Return the proposals where there is a choice among them."""
    if len(proposals := result.proposals or ()) < 2:
        return None
    return doc.table_of(
        proposals,
        ("Proposal", "name"),
        ("Generalization", lambda one: _changes(result, one.levels)),
        ("Levels", lambda one: node_text(one.levels)),
        (f"#{_title(result)}", "loss"),
        ("#Suppressed", "suppressed_rows"),
    )


def _becoming(column: LatticeColumn, level: int) -> str:
    """The values at a level, with an example where there is one."""
    called, example = column.called(level), column.example(level)
    return called if not example or called.endswith(example) else f"{called}, such as {example}"


def _short(one: Shortfall, rows: int) -> str:
    about = f" for {one.sensitive}" if one.sensitive else ""
    if one.classes is None:
        return f"{one.requirement}{about}: {doc.figure(one.level)}"
    classes, short = doc.plural(one.classes, "class", "classes"), doc.plural(one.rows or 0, "row")
    share = f" ({doc.part(one.rows, rows)})" if one.rows and rows else ""
    return f"{one.requirement}{about}: {classes} with {short}{share}"


def _nodes(result: LatticeResult, nodes: tuple[LatticeNode, ...] | None, what: str) -> Iterator[doc.Content]:
    """The nodes of least loss in a table, and the losses of all as a picture; of all safe nodes it is said which are
    minimal, and of how many strategies they are the local optimum."""
    if not nodes:
        return
    title = _title(result)
    if len(nodes) > MOST:
        yield f"The {MOST} with the smallest {title.lower()} of {doc.plural(len(nodes), what)}."
    ranked = sorted(nodes, key=lambda node: (node.loss is None, node.loss or 0.0, node.levels))
    shown = ranked[:MOST]
    smallest = "#Smallest class left" if any(node.failing_rows for node in shown) else "#Smallest class"
    minimal = {node.levels for node in result.minimal or ()} if nodes is result.safe_nodes else set()
    optima = {optimum.levels: optimum.strategies for optimum in (result.local and result.local.optima) or ()}
    yield doc.table_of(
        shown,
        ("Generalization", lambda node: _changes(result, node.levels)),
        ("Levels", lambda node: node_text(node.levels)),
        (f"#{title}", "loss"),
        ("#Suppressed", lambda node: node.suppressed_rows or 0),
        "#classes",
        (smallest if all(node.smallest_left is not None for node in shown) else None, "smallest_left"),
        ("Minimal" if minimal else None, lambda node: "yes" if node.levels in minimal else ""),
        ("#Strategies" if optima else None, lambda node: optima.get(node.levels, 0)),
    )
    yield losses_picture(ranked, title)


def _verdict(node: LatticeNode) -> doc.Toned:
    return doc.good("safe") if node.safe else doc.bad("not safe")


def _chain(result: LatticeResult) -> doc.Table | None:
    """Return the nodes of the chain with their verdicts."""
    if not result.chain:
        return None
    known = {node.levels: node for node in result.walk}
    rows: list[tuple[doc.Cell, ...]] = []
    for levels in result.chain:
        if (node := known.get(levels)) is None:
            rows.append((_changes(result, levels), node_text(levels), "not checked", "", ""))
            continue
        figures = [_short(one, result.rows) for one in node.fails if one.classes is None]
        failing = "–" if figures else node.failing_rows
        rows.append((_changes(result, levels), node_text(levels), _verdict(node), failing, "; ".join(figures)))
    whole = any(row[4] for row in rows)  # a figure of the whole table, which no single row fails
    return doc.table(("Generalization", "Levels", "Verdict", "#Failing rows", "Fails" if whole else None), rows)


def _walk(result: LatticeResult) -> Iterator[doc.Content]:
    """Yield the nodes that were walked, if the search walked one path."""
    if not result.walk or result.find == "chain":
        return
    if len(result.walk) > MOST:
        yield f"The first {MOST} of {doc.count(len(result.walk))}; the JSON has all of them."
    yield doc.table_of(
        result.walk[:MOST],
        ("Generalization", lambda node: _changes(result, node.levels)),
        ("Levels", lambda node: node_text(node.levels)),
        ("Verdict", _verdict),
        ("Fails", lambda node: "; ".join(_short(shortfall, result.rows) for shortfall in node.fails)),
    )


def _release(made: Published | None) -> Iterator[doc.Content]:
    if made is None:
        return
    yield _release_sentences(made)
    if made.view or made.file.startswith(TABLE):
        yield doc.Code(f"The SQL of the {'view' if made.view else 'table'}", made.sql)


def _release_sentences(made: Published) -> Iterator[doc.Words]:
    """Yield where the release was written to, and the result of its audit."""
    what = f"view {made.view}" if made.view else f"table {made.file.removeprefix(TABLE)}"
    if made.file and not made.file.startswith(TABLE):
        yield doc.written_to(made.file, made.buckets)
    elif made.executed:
        yield f"The {what} was created in the database."
    else:
        hint = f"{spelled('execute', True)} creates it."
        yield doc.Toned(f"The {what} was not created: its SQL is below.", hint=hint)
    if made.view:
        yield "Its rows may have the order of the table, which can reveal people. Sort them before you pass them on."
    yield from doc.unnamed_notice(made.unnamed)
    audit = made.audit
    if audit is None:
        return
    rows, classes = doc.plural(audit.rows, "row"), doc.plural(audit.classes, "class", "classes")
    suppressed = f", {doc.plural(audit.suppressed, 'row')} {'starred' if made.suppressed == 'star' else 'left out'}"
    holds = audit.status in ("pass", "warn")
    verdict = "PASS" if holds else audit.status.upper()
    said = f"Audit of the release: {verdict}; {rows} in {classes}{suppressed if audit.suppressed else ''}."
    yield doc.Toned(said + (f" {audit.note}" if audit.note else ""), "good" if holds else "bad")


def _columns(result: LatticeResult) -> doc.Table:
    def levels(column: LatticeColumn) -> str:
        becoming = (_becoming(column, level) for level in range(len(column.levels)))
        return {"keep": "unchanged", "drop": "left out"}.get(column.use) or "; ".join(becoming)

    is_weighted = any(column.weight is not None for column in result.columns)
    weight = ("#Weight" if is_weighted else None, lambda column: doc.limit(column.weight))
    name = ("Column", lambda column: written(column.name))
    return doc.table_of(result.columns, name, "#values", ("Levels", levels), weight)


def _map(result: LatticeResult) -> Iterator[doc.Content]:
    """The verdicts of all nodes as pictures, and in numbers for questions about many nodes."""
    yield nodes_picture(result)
    yield grid_picture(result)
    if result.find in ("minimal", "all"):
        yield grid_table(result)
        yield heights_table(result)
