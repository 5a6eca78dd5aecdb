"""The report of a lattice search: the node to publish, why others fail, what was decided, and the release."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.result import MEANING
from sqlaudit.base.words import spelled
from sqlaudit.lattices.disclosure_report import disclosure_blocks
from sqlaudit.lattices.local_report import local_blocks
from sqlaudit.lattices.pictures import grid_picture, grid_table, heights_table, losses_picture, nodes_picture
from sqlaudit.lattices.result import LatticeColumn, LatticeNode, LatticeResult, Published, Shortfall
from sqlaudit.reports.blocks import Block, Bullets, Code, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, figure, limit, listing, part, plural
from sqlaudit.reports.ran import made, sql_section

MOST = 20
"""Nodes that a table of the report shows; the JSON has all of them."""
_STOPPED = {
    "budget": " when its time was over",
    "interrupted": " by hand",
    "limit": " since there are too many minimal nodes",
}


def lattice_document(result: LatticeResult) -> Document:
    """The result of a search as a document for any layout."""
    return Document(
        headline(result),
        (_about(result), Bullets(tuple(_lead(result)))),
        (
            *section("The node", *_node(result)),
            *section("Why no node is safe", Bullets(tuple(result.why))),
            *section("Minimal safe nodes", *_minimal(result)),
            *section("Safe nodes", *_safe(result)),
            *section("Local optima of the strategies", *local_blocks(result, _title(result), MOST)),
            *section("Nodes along the chain", _chain(result)),
            *section("What knowledge can reveal at the nodes", *disclosure_blocks(result)),
            *section("The release", *_release(result.published)),
            *section("Nodes in the order they were checked", *_walk(result)),
            *section("The lattice", _columns(result), *_map(result)),
            *section("How it was searched", _how(result)),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def headline(result: LatticeResult) -> Toned:
    """The answer in a few words."""
    if not result.rows:
        return Toned("UNDETERMINED: there is no row to publish", "warn")
    if result.complete and result.best is None:
        return Toned("NO SAFE NODE: no release of this lattice satisfies the requirements", "bad")
    if not result.complete:
        so_far = "before a safe node was found" if result.best is None else "this is the best safe node so far"
        return Toned(f"INCOMPLETE: the search was stopped{'; ' if result.best else ' '}{so_far}", "warn")
    return Toned(_answers(result)[result.find], "good")


def _answers(result: LatticeResult) -> dict[str, str]:
    return {
        "best": "The best safe node",
        "chain": "The finest safe node of the chain",
        "minimal": f"{plural(len(result.minimal or ()), 'minimal safe node')}; there are no others",
        "all": f"{plural(result.safe or 0, 'safe node')} of {count(result.nodes)}",
    }


def _about(result: LatticeResult) -> Paragraph:
    required = listing(result.requirements, None)
    allowed = f", {plural(result.limit_rows, 'row')} suppressed at most" if result.limit_rows else ""
    return Paragraph(f"{result.target}: {plural(result.rows, 'row')}; required: {required}{allowed}.")


def _lead(result: LatticeResult) -> Iterator[Words]:
    best = result.best
    if best is not None:
        among = {"minimal": "Least loss among them: levels", "all": "Least loss: levels"}.get(result.find, "Levels")
        yield Toned(f"{among} {_said(result, best)}.", "good" if result.complete else "warn")
        yield f"{_measured(result, best)}{_left_out(result, best)}."
    yield from _stopped(result)


def _said(result: LatticeResult, node: LatticeNode) -> str:
    """A node in words: `2,1,0: age in steps of width 10, sex as *; zip unchanged`."""
    placed = list(zip(result.searched, node.levels, strict=True))
    changed = [f"{column.name} {_at(column.called(level))}" for column, level in placed if level]
    same = [column.name for column, level in placed if not level]
    said = [", ".join(changed)] if changed else []
    if same:
        said.append(f"{listing(same)} unchanged")
    dropped = [column.name for column in result.columns if column.use == "drop"]
    if dropped:
        said.append(f"{listing(dropped)} left out")
    return f"{_levels(node)}: {'; '.join(said)}"


def _at(called: str) -> str:
    """A level as a sentence has it: `in steps of width 10`, `with first 2 kept`, `as *`."""
    if called.startswith("width "):
        return f"in steps of {called}"
    return f"with {called}" if called.endswith((" kept", " masked")) else f"as {called}"


def _measured(result: LatticeResult, node: LatticeNode) -> str:
    classes = plural(node.classes, "class", "classes")
    loss = "" if node.loss is None else f"{_title(result)} {figure(node.loss)}; "
    smallest = "" if node.failing_rows else f", the smallest of {plural(node.smallest, 'row')}"
    return f"{loss}{classes}{smallest}"


def _title(result: LatticeResult) -> str:
    special = {"precision": "Loss of precision", "class-size": "Average class size"}
    return special.get(result.measure, result.measure.replace("-", " ").capitalize())


def _left_out(result: LatticeResult, node: LatticeNode) -> str:
    if not node.failing_rows:
        return ""
    rows = f"{plural(node.failing_rows, 'row')} ({part(node.failing_rows, result.rows)})"
    left = f"; the smallest class left has {plural(node.smallest_left, 'row')}" if node.smallest_left else ""
    return f"; {rows} in classes that fall short are suppressed{left}"


def _stopped(result: LatticeResult) -> Iterator[Words]:
    if result.complete:
        return
    yield Toned(f"The search was stopped{_STOPPED.get(result.stopped, '')}, so there may be a better node.", "warn")
    if result.unknown:
        yield f"Not decided: {plural(result.unknown, 'node')} of {count(result.nodes)}."
    if result.bound is not None:
        yield f"Proven: no safe node has a loss below {figure(result.bound)}."


def _node(result: LatticeResult) -> Iterator[Block]:
    best = result.best
    if best is None:
        return
    rows = tuple(
        (column.name, f"{level} of {column.height}", _becoming(column, level))
        for column, level in zip(result.searched, best.levels, strict=True)
    )
    yield Table((Column("column"), Column("level", True), Column("values become")), rows)
    if best.fails:
        yield Paragraph("Classes that fall short and are suppressed:")
        yield Bullets(tuple(_short(one, result.rows) for one in best.fails))


def _becoming(column: LatticeColumn, level: int) -> str:
    """What values become at a level, with an example where there is one."""
    called, example = column.called(level) if level else "as they are", column.example(level)
    return called if not example or called.endswith(example) else f"{called}, such as {example}"


def _short(one: Shortfall, rows: int) -> str:
    about = f" for {one.sensitive}" if one.sensitive else ""
    if one.classes is None:
        return f"{one.requirement}{about}: the figure is {figure(one.level)}"
    classes = plural(one.classes, "class", "classes")
    short = f"{plural(one.rows or 0, 'row')}{f' ({part(one.rows, rows)})' if one.rows and rows else ''}"
    return f"{one.requirement}{about}: {classes} with {short}"


def _minimal(result: LatticeResult) -> Iterator[Block | None]:
    if result.find not in ("minimal", "all") or not result.minimal:
        return
    yield from _nodes(result, result.minimal, "minimal safe node")
    if not result.safe_nodes:
        yield losses_picture(_ranked(result.minimal), _title(result))


def _safe(result: LatticeResult) -> Iterator[Block | None]:
    if result.safe_nodes:
        yield from _nodes(result, result.safe_nodes, "safe node")
        yield losses_picture(_ranked(result.safe_nodes), _title(result))


def _nodes(result: LatticeResult, nodes: tuple[LatticeNode, ...], what: str) -> Iterator[Block]:
    if len(nodes) > MOST:
        yield Paragraph(f"The {MOST} with the smallest {_title(result).lower()} of {plural(len(nodes), what)}.")
    shown = _ranked(nodes)[:MOST]
    known = all(node.smallest_left is not None for node in shown)
    smallest = "smallest left" if any(node.failing_rows for node in shown) else "smallest"
    titles = (_title(result), "suppressed rows", "classes", *((smallest,) if known else ()))
    heads = (Column("levels"), *(Column(title, True) for title in titles))
    yield Table(heads, tuple(_line(node)[: len(heads)] for node in shown))


def _ranked(nodes: tuple[LatticeNode, ...]) -> list[LatticeNode]:
    """The least loss first."""
    return sorted(nodes, key=lambda node: (node.loss is None, node.loss or 0.0, node.levels))


def _line(node: LatticeNode) -> tuple[Words, ...]:
    loss = "" if node.loss is None else figure(node.loss)
    return (_levels(node), loss, count(node.suppressed_rows or 0), count(node.classes), count(node.smallest_left or 0))


def _levels(node: LatticeNode) -> str:
    return ",".join(map(str, node.levels))


def _chain(result: LatticeResult) -> Table | None:
    if not result.chain:
        return None
    known = {node.levels: node for node in result.walk}
    rows: list[tuple[Words, ...]] = []
    for levels in result.chain:
        node = known.get(levels)
        verdict: Words = "" if node is None else Toned("safe", "good") if node.safe else Toned("not safe", "bad")
        figures = () if node is None else tuple(one for one in node.fails if one.classes is None)
        short = "" if node is None else "–" if figures else count(node.failing_rows)
        why = "; ".join(_short(one, result.rows) for one in figures)
        rows.append((",".join(map(str, levels)), verdict, short, why))
    heads = (Column("levels"), Column("checked"), Column("rows that fall short", True), Column("falls short of"))
    whole = any(row[3] for row in rows)  # a figure of the whole table: no row falls short of it by itself
    return Table(heads if whole else heads[:3], tuple(row if whole else row[:3] for row in rows))


def _walk(result: LatticeResult) -> Iterator[Block]:
    if not result.walk or result.find == "chain":
        return
    if len(result.walk) > MOST:
        yield Paragraph(f"The first {MOST} of {count(len(result.walk))}; the JSON has all of them.")
    rows = tuple(
        (
            ",".join(map(str, node.levels)),
            Toned("safe", "good") if node.safe else Toned("not safe", "bad"),
            "; ".join(_short(one, result.rows) for one in node.fails),
        )
        for node in result.walk[:MOST]
    )
    yield Table((Column("levels"), Column("verdict"), Column("falls short of")), rows)


def _release(made: Published | None) -> Iterator[Block]:
    if made is None:
        return
    yield Bullets(tuple(_release_sentences(made)))
    if made.view:
        yield Code("The SQL of the view", made.sql)


def _release_sentences(made: Published) -> Iterator[Words]:
    if made.file:
        values = f", the values of its buckets to {made.buckets}" if made.buckets else ""
        yield f"Written to {made.file}{values}."
    elif made.executed:
        yield f"The view {made.view} was made in the database."
    else:
        yield Toned(
            f"The view {made.view} was not made: its SQL is below.", hint=f"{spelled('execute', True)} makes it."
        )
    if made.view:
        yield "Its rows may come in the order of the table, which can give them away: sort them in what you hand on."
    if made.unnamed:
        yield Toned(
            f"Columns without a role are in it as they are: {listing(made.unnamed)}.",
            "warn",
            f"Name those that say something about a person with {spelled('qi')}, or leave them out with "
            f"{spelled('identifier')}.",
        )
    audit = made.audit
    if audit is None:
        return
    rows, classes = plural(audit.rows, "row"), plural(audit.classes, "class", "classes")
    suppressed = f", {plural(audit.suppressed, 'row')} {'starred' if made.suppressed == 'star' else 'left out'}"
    holds = audit.status in ("pass", "warn")
    verdict = "PASS" if holds else audit.status.upper()
    said = f"An audit of the release says {verdict}: {rows} in {classes}{suppressed if audit.suppressed else ''}."
    yield Toned(said + (f" {audit.note}" if audit.note else ""), "good" if holds else "bad")


def _columns(result: LatticeResult) -> Table:
    weighted = any(column.weight is not None for column in result.columns)
    heads = [Column("column"), Column("values", True), Column("levels")] + (
        [Column("weight", True)] if weighted else []
    )
    rows = []
    for column in result.columns:
        use = {"keep": "kept as it is", "drop": "left out"}.get(column.use)
        levels = use or "; ".join(_becoming(column, level) for level in range(len(column.levels)))
        line: tuple[Words, ...] = (column.name, "" if column.values is None else count(column.values), levels)
        rows.append((*line, limit(column.weight)) if weighted else line)
    return Table(tuple(heads), tuple(rows))


def _map(result: LatticeResult) -> Iterator[Block | None]:
    """Which nodes are safe: pictures, and the same in numbers, for questions that are about many nodes."""
    yield nodes_picture(result)
    yield grid_picture(result)
    if result.find in ("minimal", "all"):
        yield grid_table(result)
        yield heights_table(result)


def _beta(result: LatticeResult) -> str:
    return "" if result.beta is None else f" with beta {limit(result.beta)}"


def _how(result: LatticeResult) -> Facts:
    decided = f"{count(result.nodes)} nodes, {count(result.checked)} checked"
    tagged = (result.tagged_safe or 0) + (result.tagged_unsafe or 0)
    if tagged:
        decided += f", {count(tagged)} {'follows' if tagged == 1 else 'follow'} from these"
    inherited = "yes" if result.monotone else "no: suppression breaks it for these requirements"
    relied = "yes" if result.loss_monotone else "no, so the search did not rely on it"
    pairs: list[tuple[str, Words]] = [
        ("question", f"{result.find}, by {result.measure}{_beta(result)}"),
        ("algorithm", result.algorithm),
        ("lattice", decided),
        ("safe nodes", "" if result.safe is None else count(result.safe)),
        ("coarser nodes are safe, too", inherited),
        ("coarser nodes lose no less", relied),
        ("only warned of", ", ".join(result.warn_only)),
        *made(result),
    ]
    return Facts(tuple(pair for pair in pairs if pair[1]))
