"""Requirements on persons, judged from what `sqlaudit persons` counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement
from sqlaudit.base.words import spelled
from sqlaudit.column_sets.budget import Stop
from sqlaudit.events.coherence import Held
from sqlaudit.events.facts import CountedPersons
from sqlaudit.events.occurrences import Occurrences
from sqlaudit.events.request import PersonsRequest
from sqlaudit.models.base import Context
from sqlaudit.models.check import Check
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.persons import PersonsModel, PersonsWanted, persons_wanted
from sqlaudit.models.registry import REGISTRY


def asked_of(request: PersonsRequest) -> list[Asked]:
    """The models that are required; none twice for sensitive columns, which are judged by each.

    Raises:
        UsageError: a requirement has no meaning with what else is asked.
    """
    return [_asked(request, requirement) for requirement in request.requirements]


def _asked(request: PersonsRequest, requirement: Requirement) -> Asked:
    kind = REGISTRY[requirement.model]
    if not issubclass(kind, PersonsModel):
        raise UsageError(f"{requirement.text!r} is about classes of rows, and not about what persons' events tell.")
    model = kind(requirement.parameters, Context(None, 0))
    if model.needs_sensitive and not request.sensitive:
        raise UsageError(f"{requirement.text!r} needs a sensitive column; name one with {spelled('sensitive')}.")
    if model.drawn() and request.multiset:
        raise UsageError(
            f"{requirement.text!r} draws from different events: require it without {spelled('multiset', True)}."
        )
    return Asked(model, requirement, None)


def checks_of(
    asked: Sequence[Asked],
    counted: CountedPersons,
    events: Occurrences,
    helds: Held,
    sensitive: Sequence[str],
    stop: Stop,
) -> Iterator[Check]:
    """The checks of all that is required; of sensitive columns one each.

    Args:
        counted: what was counted already. events: who has which event. helds: who holds which value of `sensitive`.
    """
    wanted = persons_wanted([item.model for item in asked])
    if wanted is None:
        return
    counted.search(events, PersonsWanted(wanted.known, wanted.drawn), stop=stop)
    yield from (_check(item, counted) for item in asked if not item.model.needs_sensitive)
    of_values = [item for item in asked if item.model.needs_sensitive]
    for name, (_, held) in zip(sensitive, helds, strict=True) if of_values else ():
        counted.learnt.clear()
        counted.search(events, PersonsWanted({}, told=wanted.told), held, stop)
        yield from (_check(replace(item, sensitive=name), counted) for item in of_values)


def _check(item: Asked, counted: CountedPersons) -> Check:
    assert isinstance(item.model, PersonsModel)
    return check_of(item, item.model.judge_persons(counted), counted.rows)
