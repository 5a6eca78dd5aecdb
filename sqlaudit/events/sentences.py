"""What is said first of persons and their events: one sentence for all, then one for each finding."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.events.result import Coherence, Known, Learnt, PersonsResult
from sqlaudit.reports.blocks import Toned, Words
from sqlaudit.reports.figures import count, part, percent, plural


def headline(result: PersonsResult) -> Words:
    """The one sentence that a reader should keep."""
    if not result.persons:
        return Toned(f"{result.target}: there is nobody", "warn")
    last = result.curve[-1]
    if not last.exact and not last.exposed_persons:
        last = _counted(result)[-1]
    order = f", in the order of {result.sequence}," if result.sequence and last.known > 1 else ""
    text = f"{result.target}: {events(last.known)} of a person{order} {_expose(result, last)}"
    told = _most_told(result)
    if told is not None:
        besides = "with sensitive values " if told.uncertainty else ""
        text += f", and {besides}tell the {told.sensitive} of {among(result, _telling(told)[-1].told_persons)}"
    bad = last.exposed_persons or told is not None
    return Toned(text, "bad" if bad else "good" if result.complete else "warn")


def _most_told(result: PersonsResult) -> Coherence | None:
    """The sensitive column of which events tell most persons; None when they tell nobody."""
    told = [one for one in result.coherence if _telling(one)[-1].told_persons]
    return max(told, key=lambda one: _telling(one)[-1].told_persons, default=None)


def _telling(told: Coherence) -> tuple[Learnt, ...]:
    """What was found for whoever knows most of what was asked."""
    return told.uncertainty or told.curve


def _counted(result: PersonsResult) -> list[Known]:
    return [one for one in result.curve if one.exact]


def _expose(result: PersonsResult, one: Known) -> str:
    if not one.exposed_persons:
        verb = "is" if one.known == 1 else "are"
        rest = "" if result.curve[-1].exact else "; larger numbers are undecided"
        return f"{verb} always shared by at least {plural(one.smallest, 'person')}{rest}"
    least = "" if one.exact else "at least "
    others = f"but at most {plural(result.k - 2, 'other')}" if result.k > 2 else "others"
    return f"can tell {least}{among(result, one.exposed_persons)} from all {others}"


def among(result: PersonsResult, persons: int) -> str:
    """So many of the persons, with their share."""
    share = part(persons, result.persons)
    return f"{count(persons)} of {plural(result.persons, 'person')}{f' ({share})' if share else ''}"


def events(number: int) -> str:
    """So many known events."""
    return plural(number, "known event")


def _first(number: int) -> str:
    """So many known events, as a sentence begins with them."""
    return "One known event" if number == 1 else events(number)


def lead(result: PersonsResult) -> Iterator[Words]:
    """What was found, a sentence each."""
    if not result.persons:
        yield "There is no row, so that nothing can be known."
        return
    for one in _counted(result):
        yield from _found(result, one)
    stopped = result.curve[-1]
    if not stopped.exact:
        why = "Somebody stopped it" if result.by_hand else "The time was up"
        yield Toned(
            f"{why} while sets of {count(stopped.known)} events were counted: at least "
            f"{among(result, stopped.exposed_persons)} {'is' if stopped.exposed_persons == 1 else 'are'} exposed.",
            "warn",
        )
    for told in result.coherence:
        yield from _told(result, told)
    profile = result.profile
    if profile.unique_persons:
        yield Toned(f"Whoever knows all events of a person singles out {among(result, profile.unique_persons)}.", "bad")


def _found(result: PersonsResult, one: Known) -> Iterator[Words]:
    if one.unique_persons:
        yield Toned(f"{_first(one.known)} can single out {among(result, one.unique_persons)}.", "bad")
    elif one.exposed_persons:
        exposed = among(result, one.exposed_persons)
        yield Toned(f"{_first(one.known)} can leave {exposed} among fewer than {result.k}.", "bad")
    else:
        verb = "is" if one.known == 1 else "are"
        shared = f"{verb} shared by at least {plural(one.smallest, 'person')}."
        yield Toned(f"Any {events(one.known)} of a person {shared}", "good")


def _told(result: PersonsResult, told: Coherence) -> Iterator[Words]:
    for one in _telling(told):
        if one.told_persons:
            least = "" if one.exact else "at least "
            verb = "tells" if one.known == 1 else "tell"
            text = f"Some {_pieces(told, one)} {verb} the {told.sensitive} of {least}{among(result, one.told_persons)}"
            yield Toned(f"{text}: more than {percent(result.h)} of those who share them have one value.", "bad")
            return
    known = [one for one in _telling(told) if one.exact]
    if known:
        last = known[-1]
        text = f"No value of {told.sensitive} is held by more than {percent(last.share)} of those who share"
        rest = "" if len(known) == len(_telling(told)) else "; larger numbers are undecided"
        yield Toned(f"{text} {_pieces(told, last)} of a person{rest}.", "warn" if rest else "good")


def _pieces(told: Coherence, one: Learnt) -> str:
    """What is known, with its number."""
    if not told.uncertainty:
        return events(one.known)
    return plural(one.known, "known event or sensitive value", "known events or sensitive values")
