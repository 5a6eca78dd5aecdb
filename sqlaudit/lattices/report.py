"""The report of a lattice search: the node to publish, why others fail, what was decided, and the release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import MEANING
from sqlaudit.hierarchies.result import by_default
from sqlaudit.lattices.result import LatticeColumn, LatticeNode, LatticeResult, Levels, Published
from sqlaudit.lattices.verdicts import Shortfall, just_above, node_text
from sqlaudit.reports import document as doc
from sqlaudit.reports.stored import made, sql_section

# What a page draws of a lattice: its nodes with their verdicts, where safety begins, and what nodes lose.
#
# A small lattice is drawn node by node (Hasse diagram: a line joins a node to one that is a single level coarser). Of a
# larger one a grid shows, for the two columns that decide most, how many of the nodes with these levels are safe.

DRAWN = 120
"""Nodes that can be told apart in one picture."""
MOST_BARS = 20
_OPEN, _SAFE, _UNSAFE = "open", "safe", "unsafe"


def nodes_picture(result: LatticeResult) -> doc.Picture | None:
    """The lattice node by node; None when it is too large, has one node, or nothing is known of it."""
    if set(result.verdicts) <= {None} or not 1 < len(result.verdicts) <= DRAWN:
        return None
    kinds, names = _kinds(result), ", ".join(column.name for column in result.searched)
    rows: dict[int, list[Levels]] = defaultdict(list)
    top = tuple(column.height for column in result.searched)
    for node in kinds:
        rows[sum(node)].append(node)
    return doc.Picture(
        "graph",
        f"Every node of the lattice: levels of {names}; a line leads to a node one level coarser",
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
    """Safe nodes by the levels of the two columns that decide most; None for lattices that are drawn node by node."""
    if (found := _grid(result)) is None:
        return None
    low, high, counts, nodes = found
    names = [column.name for column in result.searched]
    return doc.Picture(
        "heat",
        f"Of the nodes with these levels of {names[low]} and {names[high]}, how many are safe"
        f"{' (as far as is known)' if None in result.verdicts else ''}: a full square is all of them"
        f"{', a frame is around those of the chosen node' if result.best else ''}",
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
    """The same in numbers."""
    if (found := _grid(result)) is None:
        return None
    low, high, counts, nodes = found
    names = [column.name for column in result.searched]
    cells = ([f"{doc.count(safe)} of {doc.count(nodes)}" for safe in row] for row in counts)
    rows = ((level, *row) for level, row in zip(_levels_of(result, low), cells, strict=True))
    heads = [doc.Column(names[low]), *(doc.Column(level, True) for level in _levels_of(result, high))]
    return doc.table(heads, rows, f"Safe nodes by the levels of {names[low]} (lines) and {names[high]}")


def heights_table(result: LatticeResult) -> doc.Table | None:
    """How many nodes are safe at which height of the lattice; None when nothing is known."""
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
    undecided = "#not decided" if None in result.verdicts else None
    titles = ("#sum of levels", "#nodes", "#safe", "#not safe", undecided)
    return doc.table(titles, rows, "How many nodes are safe at which height")


def losses_picture(nodes: Sequence[LatticeNode], title: str) -> doc.Picture | None:
    """What nodes lose, the least first; None with fewer than two losses."""
    priced = [node for node in nodes if node.loss is not None][:MOST_BARS]
    if len(priced) < 2:
        return None
    series = {title: [float(node.loss or 0) for node in priced]}
    return doc.bars(f"{title} of safe nodes, the least first", (node_text(one.levels) for one in priced), series, title)


def _kinds(result: LatticeResult) -> Mapping[Levels, str]:
    """How each node is drawn."""
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
"""So many numbers of pieces of knowledge can be told apart in one picture, and stand side by side in a table."""
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
            yield f"Shown for k = {doc.listing(map(str, shown), MOST_CURVES)}; the JSON has all of {len(asked)}."
        for negated, kind in _KNOWLEDGE.items():
            curves = {k: result.least_disclosure(k, sensitive, negated=negated) for k in shown}
            yield from _least_disclosure(curves, sensitive, kind)


def _least_disclosure(
    curves: Mapping[int, list[tuple[float, Fraction]]], sensitive: str, kind: str
) -> Iterator[doc.Content]:
    """A picture, a table, and how often more entropy goes with more disclosure; empty when it never does.

    `curves` are (entropy, least disclosure) by pieces of knowledge.
    """
    yield doc.curves(
        f"The least maximum disclosure of {sensitive} among nodes with the same smallest entropy of a class; {kind}",
        {f"k = {k}": [(entropy, float(least)) for entropy, least in curve] for k, curve in curves.items()},
        f"smallest entropy of {sensitive} in a class (nats)",
        "least maximum disclosure",
        "lower left",
    )
    lines = list(zip(*curves.values(), strict=True))
    rows = ((doc.figure(line[0][0], 5), *(doc.figure(least) for _, least in line)) for line in lines[:MOST_LINES])
    more = f"; the first {MOST_LINES} of {doc.count(len(lines))} entropies" if len(lines) > MOST_LINES else ""
    heads = ("#smallest entropy", *(f"#k = {k}" for k in curves))
    yield doc.table(heads, rows, f"Least disclosure of {sensitive}, {kind}{more}")
    rises = {k: sum(after > before for (_, before), (_, after) in pairwise(curve)) for k, curve in curves.items()}
    said = doc.listing((f"{doc.count(times)} for k = {k}" for k, times in rises.items() if times), MOST_CURVES)
    if said:
        steps = doc.plural(len(lines) - 1, "step")
        yield f"Of the {steps} from one entropy to the next larger one, disclosure goes up in {said}."


def local_blocks(result: LatticeResult, measured: str, most: int) -> Iterator[doc.Content]:
    """The safe node of smallest loss on each strategy of generalization (OLA, step 2): sentences, and a table of `most`
    of the local optima with their `measured` loss."""
    local = result.local
    if local is None or not result.safe_nodes:
        return
    ways = doc.plural(local.strategies, "strategy", "strategies")
    without = f"; {doc.count(local.without)} without a safe node" if local.without else ""
    yield (
        f"There {'is' if local.strategies == 1 else 'are'} {ways}{without}. A strategy is a way from the finest node "
        "to the coarsest, one level of one column at a step. Its local optimum is its safe node of smallest loss."
    )
    if local.falls:
        steps = doc.plural(local.falls, "step")
        yield f"At {steps} from a safe node to the next, a coarser node loses less than a finer one."
    if local.optima is None:
        yield "There are too many of these steps to count strategies by their local optimum: they are not counted."
        return
    found = len(local.optima)
    optima = doc.plural(found, "local optimum", "local optima")
    more = f"The first {doc.count(most)} of {optima}" if found > most else ""
    rows = ((node_text(one.levels), doc.figure(one.loss), one.strategies) for one in local.optima[:most])
    yield doc.table(("levels", f"#{measured}", "#strategies"), rows, more)


MOST = 20
"""Nodes that a table of the report shows; the JSON has all of them."""
_STOPPED = {
    "budget": " when its time was over",
    "interrupted": " by hand",
    "limit": " since there are too many minimal nodes",
}


def lattice_document(result: LatticeResult) -> doc.Document:
    """The result of a search as a document for any layout."""
    required = doc.listing(result.requirements, None)
    allowed = f", {doc.plural(result.limit_rows, 'row')} suppressed at most" if result.limit_rows else ""
    minimal = [*_nodes(result, result.minimal, "minimal safe node")] if result.find in ("minimal", "all") else []
    if result.safe_nodes:
        minimal = minimal[:-1]  # the picture is of all safe nodes
    about = f"{result.target}: {doc.plural(result.rows, 'row')}; required: {required}{allowed}."
    return doc.report_on(
        result,
        headline(result),
        (about, _lead(result)),
        doc.section("The node", *_node(result)),
        doc.section("Why no node is safe", result.why),
        doc.section("Minimal safe nodes", *minimal),
        doc.section("Safe nodes", *_nodes(result, result.safe_nodes, "safe node")),
        doc.section("Local optima of the strategies", *local_blocks(result, _title(result), MOST)),
        doc.section("Nodes along the chain", _chain(result)),
        doc.section("What knowledge can reveal at the nodes", *disclosure_blocks(result)),
        doc.section("The release", *_release(result.published)),
        doc.section("Nodes in the order they were checked", *_walk(result)),
        doc.section("The lattice", _columns(result), by_default(result.columns), *_map(result)),
        doc.section("How it was searched", _how(result)),
        doc.section("What this does not say", (MEANING,)),
        sql_section(result),
    )


def headline(result: LatticeResult) -> doc.Toned:
    """The answer in a few words."""
    if not result.rows:
        return doc.warning("UNDETERMINED: there is no row to publish")
    if result.complete and result.best is None:
        return doc.bad("NO SAFE NODE: no release of this lattice satisfies the requirements")
    if not result.complete:
        so_far = "before a safe node was found" if result.best is None else "this is the best safe node so far"
        return doc.warning(f"INCOMPLETE: the search was stopped{'; ' if result.best else ' '}{so_far}")
    answers = {
        "best": "The best safe node",
        "chain": "The finest safe node of the chain",
        "minimal": f"{doc.plural(len(result.minimal or ()), 'minimal safe node')}; there are no others",
        "all": f"{doc.plural(result.safe or 0, 'safe node')} of {doc.count(result.nodes)}",
    }
    return doc.good(answers[result.find])


def _lead(result: LatticeResult) -> Iterator[doc.Words]:
    best = result.best
    if best is not None:
        among = {"minimal": "Least loss among them: levels", "all": "Least loss: levels"}.get(result.find, "Levels")
        yield doc.Toned(f"{among} {_describe(result, best)}.", "good" if result.complete else "warn")
        said = "" if best.loss is None else f"{_title(result)} {doc.figure(best.loss)}; "
        said += doc.plural(best.classes, "class", "classes")
        if best.failing_rows:
            rows = f"{doc.plural(best.failing_rows, 'row')} ({doc.part(best.failing_rows, result.rows)})"
            said += f"; {rows} in classes that fall short are suppressed"
            if best.smallest_left:
                said += f"; the smallest class left has {doc.plural(best.smallest_left, 'row')}"
        else:
            said += f", the smallest of {doc.plural(best.smallest, 'row')}"
        yield f"{said}."
    if result.complete:
        return
    yield doc.warning(f"The search was stopped{_STOPPED.get(result.stopped, '')}, so there may be a better node.")
    if result.unknown:
        yield f"Not decided: {doc.plural(result.unknown, 'node')} of {doc.count(result.nodes)}."
    if result.bound is not None:
        yield f"Proven: no safe node has a loss below {doc.figure(result.bound)}."


def _describe(result: LatticeResult, node: LatticeNode) -> str:
    """A node in words: `2,1,0: age in steps of width 10, sex as *; zip unchanged`."""
    placed = list(zip(result.searched, node.levels, strict=True))
    changed = ", ".join(f"{column.name} {_in_words(column.called(level))}" for column, level in placed if level)
    same = doc.listing(column.name for column, level in placed if not level)
    dropped = doc.listing(column.name for column in result.columns if column.use == "drop")
    said = (changed, same and f"{same} unchanged", dropped and f"{dropped} left out")
    return f"{node_text(node.levels)}: {'; '.join(filter(None, said))}"


def _in_words(called: str) -> str:
    """A level as a sentence has it: `in steps of width 10`, `with first 2 kept`, `as *`."""
    if called.startswith("width "):
        return f"in steps of {called}"
    return f"with {called}" if called.endswith((" kept", " masked")) else f"as {called}"


def _title(result: LatticeResult) -> str:
    special = {"precision": "Loss of precision", "class-size": "Average class size"}
    return special.get(result.measure, result.measure.replace("-", " ").capitalize())


def _node(result: LatticeResult) -> Iterator[doc.Content]:
    best = result.best
    if best is None:
        return
    placed = zip(result.searched, best.levels, strict=True)
    rows = ((column.name, f"{level} of {column.height}", _becoming(column, level)) for column, level in placed)
    yield doc.table(("column", "#level", "values become"), rows)
    if best.fails:
        yield "Classes that fall short and are suppressed:"
        yield (_short(one, result.rows) for one in best.fails)


def _becoming(column: LatticeColumn, level: int) -> str:
    """What values become at a level, with an example where there is one."""
    called, example = column.called(level) if level else "as they are", column.example(level)
    return called if not example or called.endswith(example) else f"{called}, such as {example}"


def _short(one: Shortfall, rows: int) -> str:
    about = f" for {one.sensitive}" if one.sensitive else ""
    if one.classes is None:
        return f"{one.requirement}{about}: the figure is {doc.figure(one.level)}"
    classes, short = doc.plural(one.classes, "class", "classes"), doc.plural(one.rows or 0, "row")
    share = f" ({doc.part(one.rows, rows)})" if one.rows and rows else ""
    return f"{one.requirement}{about}: {classes} with {short}{share}"


def _nodes(result: LatticeResult, nodes: tuple[LatticeNode, ...] | None, what: str) -> Iterator[doc.Content]:
    """The nodes of least loss in a table, and what all of them lose as a picture."""
    if not nodes:
        return
    title = _title(result)
    if len(nodes) > MOST:
        yield f"The {MOST} with the smallest {title.lower()} of {doc.plural(len(nodes), what)}."
    ranked = sorted(nodes, key=lambda node: (node.loss is None, node.loss or 0.0, node.levels))
    shown = ranked[:MOST]
    known = all(node.smallest_left is not None for node in shown)
    smallest = "#smallest left" if any(node.failing_rows for node in shown) else "#smallest"
    rows = (
        (node_text(one.levels), one.loss, one.suppressed_rows or 0, one.classes, one.smallest_left or 0)
        for one in shown
    )
    yield doc.table(("levels", f"#{title}", "#suppressed rows", "#classes", smallest if known else None), rows)
    yield losses_picture(ranked, title)


def _verdict(node: LatticeNode) -> doc.Toned:
    return doc.good("safe") if node.safe else doc.bad("not safe")


def _chain(result: LatticeResult) -> doc.Table | None:
    if not result.chain:
        return None
    known = {node.levels: node for node in result.walk}
    rows: list[tuple[doc.Cell, ...]] = []
    for levels in result.chain:
        if (node := known.get(levels)) is None:
            rows.append((node_text(levels), "", "", ""))
            continue
        figures = [_short(one, result.rows) for one in node.fails if one.classes is None]
        rows.append((node_text(levels), _verdict(node), "–" if figures else node.failing_rows, "; ".join(figures)))
    whole = any(row[3] for row in rows)  # a figure of the whole table: no row falls short of it by itself
    return doc.table(("levels", "checked", "#rows that fall short", "falls short of" if whole else None), rows)


def _walk(result: LatticeResult) -> Iterator[doc.Content]:
    if not result.walk or result.find == "chain":
        return
    if len(result.walk) > MOST:
        yield f"The first {MOST} of {doc.count(len(result.walk))}; the JSON has all of them."
    rows = (
        (node_text(node.levels), _verdict(node), "; ".join(_short(one, result.rows) for one in node.fails))
        for node in result.walk[:MOST]
    )
    yield doc.table(("levels", "verdict", "falls short of"), rows)


def _release(made: Published | None) -> Iterator[doc.Content]:
    if made is None:
        return
    yield _release_sentences(made)
    if made.view:
        yield doc.Code("The SQL of the view", made.sql)


def _release_sentences(made: Published) -> Iterator[doc.Words]:
    if made.file:
        yield doc.written_to(made.file, made.buckets)
    elif made.executed:
        yield f"The view {made.view} was made in the database."
    else:
        hint = f"{spelled('execute', True)} makes it."
        yield doc.Toned(f"The view {made.view} was not made: its SQL is below.", hint=hint)
    if made.view:
        yield "Its rows may come in the order of the table, which can give them away: sort them in what you hand on."
    yield from doc.unnamed_notice(made.unnamed)
    audit = made.audit
    if audit is None:
        return
    rows, classes = doc.plural(audit.rows, "row"), doc.plural(audit.classes, "class", "classes")
    suppressed = f", {doc.plural(audit.suppressed, 'row')} {'starred' if made.suppressed == 'star' else 'left out'}"
    holds = audit.status in ("pass", "warn")
    verdict = "PASS" if holds else audit.status.upper()
    said = f"An audit of the release says {verdict}: {rows} in {classes}{suppressed if audit.suppressed else ''}."
    yield doc.Toned(said + (f" {audit.note}" if audit.note else ""), "good" if holds else "bad")


def _columns(result: LatticeResult) -> doc.Table:
    weighted = any(column.weight is not None for column in result.columns)
    rows = (
        (
            column.name,
            column.values,
            {"keep": "kept as it is", "drop": "left out"}.get(column.use)
            or "; ".join(_becoming(column, level) for level in range(len(column.levels))),
            doc.limit(column.weight) if weighted else "",
        )
        for column in result.columns
    )
    return doc.table(("column", "#values", "levels", "#weight" if weighted else None), rows)


def _map(result: LatticeResult) -> Iterator[doc.Content]:
    """Which nodes are safe: pictures, and the same in numbers, for questions that are about many nodes."""
    yield nodes_picture(result)
    yield grid_picture(result)
    if result.find in ("minimal", "all"):
        yield grid_table(result)
        yield heights_table(result)


def _how(result: LatticeResult) -> doc.Facts:
    decided = f"{doc.count(result.nodes)} nodes, {doc.count(result.checked)} checked"
    tagged = (result.tagged_safe or 0) + (result.tagged_unsafe or 0)
    if tagged:
        decided += f", {doc.count(tagged)} {'follows' if tagged == 1 else 'follow'} from these"
    beta = "" if result.beta is None else f" with beta {doc.limit(result.beta)}"
    inherited = "yes" if result.monotone else "no: suppression breaks it for these requirements"
    relied = "yes" if result.loss_monotone else "no, so the search did not rely on it"
    return doc.facts(
        ("question", f"{result.find}, by {result.measure}{beta}"),
        ("algorithm", result.algorithm),
        ("lattice", decided),
        ("safe nodes", result.safe),
        ("coarser nodes are safe, too", inherited),
        ("coarser nodes lose no less", relied),
        ("only warned of", ", ".join(result.warn_only)),
        *made(result),
    )
