"""The reports of cloaking, and of an audit of boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from sqlaudit.base.result import MEANING
from sqlaudit.remedies.cloak.result import (
    Attacks,
    BoxAudit,
    CloakResult,
    Holding,
    MessageOutcome,
    Observed,
    RestrictedSpace,
    Spread,
)
from sqlaudit.reports.blocks import Bullets, Code, Column, Facts, Picture, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, figure, limit, listing, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_REASONS = {
    MessageOutcome.MISSING: "user, place or time is missing",
    MessageOutcome.NO_PLACE: "the place or time is infinite, not a number, or beyond all bounds",
    MessageOutcome.NO_TOLERANCE: "it tolerates not even the smallest box",
    MessageOutcome.TOO_FEW: "too few users in any box that it tolerates",
    MessageOutcome.GIVEN_UP: "given up, so that others have finer boxes",
}
_AXES = {
    "alternately": "in space and in time by turns",
    "space-first": "in space, then in time",
    "time-first": "in time, then in space",
}


def cloak_document(result: CloakResult) -> Document:
    """Cloaked messages as a document for any layout."""
    return Document(
        _headline(result),
        (Bullets(tuple(_lead(result))),),
        (
            *section("Boxes", _levels(result), _picture(result)),
            *section("Dropped messages", _dropped(result)),
            *section("Attacks on the boxes", Bullets(tuple(_attacks(result.attacks)))),
            *section("How it was cloaked", _how(result)),
            *section("The SELECT of the cloaked messages", *([Code("SQL", result.sql)] if result.sql else [])),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def box_audit_document(result: BoxAudit) -> Document:
    """An audit of boxes as a document for any layout."""
    tried = any(held is not None for held in (result.classes, result.presence))
    verdict = "boxes FAIL" if not result.passed else "every box holds enough users" if tried else "boxes attacked"
    tone = Toned(f"{result.target}: {verdict}", "bad" if not result.passed else "good" if tried else "plain")
    return Document(
        tone,
        (Bullets(tuple(_box_lead(result))),),
        (
            *section("Users of boxes", _holdings(result)),
            *section("Attacks on the boxes", Bullets(tuple(_attacks(result.attacks)))),
            *section("How it was measured", _box_how(result)),
            *section("What this does not say", Bullets((MEANING,))),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def length(metres: Fraction | float) -> str:
    """A length as people write it.

    Example:
        >>> length(Fraction(1000)), length(62.5)
        ('1 km', '62.5 m')
    """
    return f"{figure(Fraction(metres) / 1000)} km" if metres >= 1000 else f"{figure(Fraction(metres))} m"


def duration(seconds: Fraction | float) -> str:
    """A duration as people write it.

    Example:
        >>> duration(Fraction(600)), duration(Fraction(75, 2)), duration(7200)
        ('10 min', '37.5 s', '2 h')
    """
    units = ((86400, "d"), (3600, "h"), (60, "min"))
    for size, unit in units:
        if seconds >= size and not (Fraction(seconds) * 4) % size:
            return f"{figure(Fraction(seconds) / size)} {unit}"
    return f"{figure(Fraction(seconds))} s"


def area(square_metres: Fraction | float) -> str:
    """An area as people write it."""
    if square_metres >= 100_000:
        return f"{figure(Fraction(square_metres) / 1_000_000)} km²"
    return f"{figure(Fraction(square_metres))} m²"


def _headline(result: CloakResult) -> Toned:
    if not result.rows:
        return Toned(f"{result.target}: there are no messages", "warn")
    if not result.published:
        return Toned(f"{result.target}: NO MESSAGE can be published", "bad")
    fewest = count(result.fewest_users or 0)
    return Toned(
        f"{result.target}: {count(result.published)} of {plural(result.rows, 'message')} cloaked, "
        f"{plural(result.boxes, 'box', 'boxes')} of at least {fewest} users",
        "good",
    )


def _lead(result: CloakResult) -> Iterator[Words]:
    if result.audit is not None:
        own = " (more where a message asks for more)" if any(one.endswith("-k-column") for one in result.own) else ""
        yield Toned(
            f"Holds: at least {count(result.k)} different users{own} in every box that is published; "
            f"{count(result.fewest_users or 0)} in the one with fewest, as an audit of the result counted. "
            f"{_apart(result)}",
            "good",
        )
    if result.areas and result.intervals:
        most = "at most " if result.lonlat else ""
        yield f"Boxes have {most}{_spread(result.areas, area)}; their intervals {_spread(result.intervals, duration)}."
    lost = result.rows - result.published
    if lost:
        verb = "is" if lost == 1 else "are"
        yield Toned(f"{plural(lost, 'message')} ({part(lost, result.rows)}) {verb} dropped.", "warn")
    if result.columns and result.published:
        yield Toned(
            f"Published as they are: {listing(result.columns)}. Cloaking says nothing of what "
            f"{'this column tells' if len(result.columns) == 1 else 'these columns tell'}.",
            "warn",
        )


def _apart(result: CloakResult) -> str:
    if result.delay is None:
        return "No two boxes overlap."
    return "Boxes of one cell follow each other; one may begin in the step of time in which the last one ends."


def _spread(spread: Spread, words: Callable[[Fraction], str]) -> str:
    said = [words(number) for number in (spread.smallest, spread.median, spread.largest)]
    return said[0] if said[0] == said[2] else f"{said[0]} to {said[2]}, median {said[1]}"


def _levels(result: CloakResult) -> Table | None:
    if not result.published:
        return None
    columns = (
        Column("Side", True),
        Column("Interval", True),
        Column("Boxes", True),
        Column("Messages", True),
        Column("Share", True),
        Column("Fewest users", True),
    )
    rows = tuple(
        (
            length(level.side),
            duration(level.seconds),
            count(level.boxes),
            count(level.messages),
            part(level.messages, result.published),
            "" if level.fewest_users is None else count(level.fewest_users),
        )
        for level in result.levels
    )
    return Table(columns, rows, "Boxes by their size, the largest first")


def _picture(result: CloakResult) -> Picture | None:
    if sum(1 for level in result.levels if level.messages) < 2:
        return None
    return Picture(
        "bars",
        "Published messages by the size of their box",
        {
            "names": [f"{length(level.side)}, {duration(level.seconds)}" for level in result.levels],
            "series": {"messages": [level.messages for level in result.levels]},
            "x": "messages",
        },
    )


def _dropped(result: CloakResult) -> Table:
    rows = tuple(
        (reason, count(result.dropped[outcome]), part(result.dropped[outcome], result.rows))
        for outcome, reason in _REASONS.items()
        if result.dropped.get(outcome)
    )
    return Table((Column("Why"), Column("Messages", True), Column("Share", True)), rows)


def _how(result: CloakResult) -> Facts:
    pairs: list[tuple[str, Words]] = [("messages", count(result.rows)), *_sizes(result)]
    pairs.append(("places", "longitude and latitude in degrees" if result.lonlat else "metres on a plane"))
    if result.suppress:
        pairs.append(("dropped for finer boxes", f"at most {limit(result.suppress)} of those that could be published"))
    if result.own:
        pairs.append(("messages ask for themselves", listing(result.own)))
    return Facts((*pairs, *made(result)))


def _sizes(result: CloakResult) -> list[tuple[str, Words]]:
    if result.delay is not None:
        return [("as they come", f"held back for {duration(result.delay)} at most")]
    largest, smallest = result.levels[0], result.levels[-1]
    return [
        ("largest box", f"{length(largest.side)} for {duration(largest.seconds)}"),
        ("smallest box", f"{length(smallest.side)} for {duration(smallest.seconds)}"),
        ("divided", _AXES[result.divide]),
    ]


def _attacks(attacks: Attacks) -> Iterator[Words]:
    if attacks.restricted_space is not None:
        yield from _restricted(attacks.restricted_space)
    if attacks.observation is not None:
        yield from _observation(attacks.observation)


def _restricted(found: RestrictedSpace) -> Iterator[Words]:
    boxes = plural(found.boxes, "box", "boxes")
    said = f"none of {boxes} in space lies in the property of a single owner."
    if found.exposed:
        messages = plural(found.messages, "message")
        verb = "lies" if found.exposed == 1 else "lie"
        said = f"{count(found.exposed)} of {boxes} in space {verb} in the property of a single owner, with {messages}."
    said = f"Restricted space identification: {said}"
    yield Toned(said, "bad" if found.exposed else "good")
    if found.inside > found.exposed:
        several = found.inside - found.exposed
        yield f"{count(several)} more {'lies' if several == 1 else 'lie'} in properties of several owners."
    if found.skipped:
        skipped = plural(found.skipped, "property", "properties")
        yield Toned(f"{skipped} without bounds or owner {_was(found.skipped)} left out.", "warn")


def _observation(found: Observed) -> Iterator[Words]:
    yield Toned(
        f"Observation identification: {count(found.linkable)} of {plural(found.boxes, 'box', 'boxes')} "
        f"{'holds' if found.linkable == 1 else 'hold'} a single observed user, to whom an attacker links "
        f"{plural(found.messages, 'message')}.",
        "warn" if found.linkable else "good",
    )
    if found.linkable and found.right is not None:
        yield (
            f"{count(found.right)} of these messages ({percent(Fraction(found.right, found.messages))}) "
            f"truly {'is' if found.right == 1 else 'are'} that user's."
        )
    if found.observed > found.linkable:
        several = plural(found.observed - found.linkable, "more box holds", "more boxes hold")
        yield f"{several} several observed users."
    if found.skipped:
        skipped = plural(found.skipped, "observation")
        yield Toned(f"{skipped} without user, place or time {_was(found.skipped)} left out.", "warn")


def _box_lead(result: BoxAudit) -> Iterator[Words]:
    if result.classes is not None:
        yield _verdict(result.classes, result.k, "published with it")
    else:
        yield Toned("The messages have no column of users, so users that share a box cannot be counted.", "warn")
    if result.presence is not None:
        yield _verdict(result.presence, result.k, "whose true position lies in it")
    if result.unboxed:
        lacking = plural(result.unboxed, "message lacks a bound of its", "messages lack a bound of their")
        yield Toned(f"{lacking} box, of {count(result.rows)}.", "warn")
    if result.skipped_positions:
        skipped = plural(result.skipped_positions, "position")
        yield Toned(f"{skipped} without user, place or time {_was(result.skipped_positions)} left out.", "warn")


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _verdict(held: Holding, k: int, what: str) -> Toned:
    fewest = "" if held.fewest is None else f"; {count(held.fewest)} in the smallest"
    several = what.replace(" it", " them")
    if held.passed:
        return Toned(f"Holds: every box has {plural(k, 'user')} or more {what}{fewest}.", "good")
    return Toned(
        f"FAILS: {count(held.failing_boxes)} of {plural(held.boxes, 'box', 'boxes')} with "
        f"{plural(held.failing_messages, 'message')} {'has' if held.failing_boxes == 1 else 'have'} fewer than "
        f"{plural(k, 'user')} {what if held.failing_boxes == 1 else several}{fewest}.",
        "bad",
    )


def _holdings(result: BoxAudit) -> Table:
    held = (("published with the same box", result.classes), ("truly in the box", result.presence))
    columns = (
        Column("Users"),
        Column("Boxes", True),
        Column("Messages", True),
        Column("Fewest", True),
        Column("Boxes below k", True),
        Column("Messages in them", True),
    )
    rows = tuple(
        (
            name,
            count(one.boxes),
            count(one.messages),
            "" if one.fewest is None else count(one.fewest),
            count(one.failing_boxes),
            count(one.failing_messages),
        )
        for name, one in held
        if one is not None
    )
    return Table(columns, rows)


def _box_how(result: BoxAudit) -> Facts:
    pairs = (("messages", count(result.rows)), ("k", count(result.k)))
    return Facts((*pairs, *made(result)))
