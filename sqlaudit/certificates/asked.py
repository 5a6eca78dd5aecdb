"""What an audit was asked, as plain data, and the request that such data make again."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from sqlaudit.base.documents import plain
from sqlaudit.base.errors import InputError, UsageError
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.spec import AuditSpec, Coverage, ReadOptions, Roles, Sampling, Target
from sqlaudit.base.words import spelled
from sqlaudit.models.requirements import requirements
from sqlaudit.profiles.report import option_value

HIDDEN = "…"
"""In a command, what its certificate does not hold."""
UNREADABLE = "This is no certificate, or one that was changed by hand: its {} cannot be read."


def asked_of(spec: AuditSpec, db: bool, failing: int | None, worst: int, values: bool) -> dict[str, Any]:
    """A request as plain data, without what is as usual.

    Args:
        spec: the request. db: whether a database was named. failing, worst, values: of how many classes the report
            told, and whether with their values; the statements follow from these, too.
    """
    return {
        "target": spec.target.label or spec.target.relation,
        "database": db,
        "read": _given(spec.target.read),
        "where": _digest(spec.target.where),
        "query": _digest(spec.target.query),
        "inputs": _digest(json.dumps(plain(spec.inputs), sort_keys=True)) if spec.inputs else None,
        "roles": _given(spec.roles) | _given(spec.roles.sampling),
        "coverage": _given(spec.coverage),
        "require": [one.text for one in spec.requirements],
        "shown": {"failing_classes": failing, "worst_classes": worst, "values": values},
    }


def spec_from(asked: Mapping[str, Any], target: str, where: str, query: str, inputs: Mapping[str, Any]) -> AuditSpec:
    """The request again. Nothing of it is SQL, except expressions in the place of columns (`trusted.py`).

    Args:
        asked: what `asked_of` gave. target, where, query, inputs: what whoever verifies says; empty = as in `asked`.

    Raises:
        InputError: something in it is not what `asked_of` writes. UsageError: what only the user can say is missing.
    """
    missing = [name for name, given in (("where", where), ("query", query)) if asked[name] and not given]
    if missing:
        raise UsageError(
            f"The audit was of rows that its own SQL chose, which the certificate does not hold: give the same text "
            f"with {spelled(missing[0])}."
        )
    if asked["inputs"] and not inputs:
        raise UsageError(f"The audit had further inputs, which the certificate does not hold: {spelled('inputs')}.")
    name = target or (asked["target"] if not query else "")
    try:
        read = request_from(ReadOptions, asked["read"])
        roles = request_from(Roles, asked["roles"], sampling=request_from(Sampling, asked["roles"]))
        coverage = request_from(Coverage, asked["coverage"])
        required = requirements(list(asked["require"]))
    except UsageError as error:
        raise InputError(f"{UNREADABLE.format('request')} {error}") from None
    except (TypeError, ValueError, AttributeError):
        raise InputError(UNREADABLE.format("request")) from None
    spec = AuditSpec(Target(name, query, where=where, read=read), roles, required, inputs, coverage)
    again = asked_of(spec, False, 0, 0, False)
    if wrong := [part for part in ("read", "roles", "coverage", "require") if again[part] != asked[part]]:
        raise InputError(UNREADABLE.format(wrong[0]))
    return spec


def changed_texts(asked: Mapping[str, Any], spec: AuditSpec) -> Iterator[str]:
    """The names of those texts that are not what they were: `where`, `query`, `inputs`."""
    now = asked_of(spec, False, 0, 0, False)
    return (name for name in ("where", "query", "inputs") if now[name] != asked[name])


def command_of(asked: Mapping[str, Any]) -> str:
    """The command line of a request; `…` stands for what the certificate does not hold."""
    words = ["sqlaudit", "audit", *(["--db", HIDDEN] if asked["database"] else [])]
    words += [shlex.quote(asked["target"])] if not asked["query"] else ["--query", HIDDEN]
    for name, value in {**asked["read"], **asked["roles"], **asked["coverage"]}.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [flag, option_value(value) if isinstance(value, list) else shlex.quote(str(value))]
    for name in ("where", "inputs"):
        words += [f"--{name}", HIDDEN] if asked[name] else []
    for text in asked["require"]:
        words += ["--require", shlex.quote(text)]
    return " ".join(words)


def _given(request: Any) -> dict[str, Any]:
    """The options of a request that are not as usual, by the parameter's name."""
    found = {one.name: (getattr(request, name), one.default) for name, one in options_of(type(request))}
    return {name: _told(value) for name, (value, usual) in found.items() if value != usual}


def _told(value: Any) -> Any:
    told = plain(value)
    return str(value) if isinstance(told, float) else told


def _digest(text: str) -> str | None:
    return hashlib.sha256(text.encode()).hexdigest() if text else None
