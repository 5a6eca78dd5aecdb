"""What a table may fall short of for a while, as a policy says it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.gates.keys import TEXT, Keys, described
from sqlaudit.gates.nodes import NO_NODES, Mistakes, chosen, day, place_of, text, up_to
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import PolicyException, TestSpec, Threshold
from sqlaudit.models.coverage import no_identifier
from sqlaudit.models.requirements import find_model

KEYS: Keys = {
    "requirement": TEXT,
    "identifier": described("A direct identifier that may be in the table for a while."),
    "sensitive": TEXT,
    "until": {
        "type": "string",
        "format": "date",
        "pattern": r"^\d{4}-\d{2}-\d{2}$",
        "description": "The last day on which it holds.",
    },
    "reason": TEXT,
    "up_to": {"type": ["integer", "string"], "description": "How many rows may fall short: 12 or 1%."},
}


def read_exceptions(found: Mapping[str, Node], tests: Sequence[TestSpec], mistakes: Mistakes) -> list[PolicyException]:
    """The exceptions that can be read; one that cannot is a mistake, and excepts nothing."""
    nodes = mistakes.attempt(lambda node: tuple(node.items("'exceptions'")), chosen(found, "exceptions"), NO_NODES)
    made = [_exception(node, tests, mistakes) for node in nodes]
    return [exception for exception in made if exception is not None]


def _exception(node: Node, tests: Sequence[TestSpec], mistakes: Mistakes) -> PolicyException | None:
    own = Mistakes()
    found = own.section(node, "an exception", KEYS)
    subject = "identifier" if "identifier" in found else "requirement"
    missing = [key for key in (subject, "until", "reason") if key not in found]
    if missing:
        own.append(Mistake(place_of(node), f"an exception needs {' and '.join(missing)}."))
    requirement = own.attempt(text("requirement"), found.get("requirement"), "")
    if subject == "identifier":
        requirement = _excepted_identifier(found, tests, own)
    elif requirement and not any(excepts(requirement, test) for test in tests):
        hint = closest(requirement, [test.requirement for test in tests])
        own.append(Mistake(place_of(found["requirement"]), f"no requirement here is {requirement!r}.{hint}"))
    sensitive = own.attempt(text("sensitive"), found.get("sensitive"), "")
    reason = own.attempt(text("reason"), found.get("reason"), "")
    no_limit: Threshold | None = None
    limit: Threshold | None = own.attempt(up_to("up_to"), found.get("up_to"), no_limit)
    until = own.attempt(day("until"), found.get("until"), datetime.date.min)
    mistakes += own
    return None if own else PolicyException(requirement, sensitive, until, reason, limit, place_of(node))


def _excepted_identifier(found: Mapping[str, Node], tests: Sequence[TestSpec], own: Mistakes) -> str:
    """The requirement that an exception for a direct identifier means."""
    node = found["identifier"]
    if "requirement" in found:
        own.append(Mistake(place_of(node), "an exception is for a requirement or for an identifier; keep one."))
    name = own.attempt(text("identifier"), node, "")
    known = [test.identifier for test in tests if test.identifier]
    if name and name not in known:
        own.append(Mistake(place_of(node), f"no direct identifier here is {name!r}.{closest(name, known)}"))
    return no_identifier(name)


def excepts(requirement: str, test: TestSpec) -> bool:
    """Whether an exception's requirement means a test: its text, or the name of its model."""
    if requirement == test.requirement or requirement == test.requirement.partition("=")[0]:
        return True
    try:
        return test.model is not None and find_model(requirement).name == test.model.model
    except SqlauditError:
        return False
