"""`sqlaudit attack`: what an attacker can still do with a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import Work, bucketized_options, limit_options, output_options, role_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.requests import given_options
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.release.attacks.request import AttackRequest, KnownSearch

_holds = in_section("What the attacker holds")


def _published(*, require: tuple[str, ...], node: str | None) -> dict[str, KnownSearch | None]:
    from sqlaudit.models.requirements import parse_requirements

    if not require:
        if node is not None:
            raise UsageError("--node says where a search ended; say with --require what it searched for.")
        return {"published": None}
    try:
        levels = None if node is None else tuple(int(level) for level in node.split(","))
    except ValueError:
        raise UsageError("--node is one level for each quasi-identifier, for instance 2,1,0.") from None
    return {"published": KnownSearch(tuple(one for text in require for one in parse_requirements(text)), levels)}


def _request(attacker: Mapping[str, Any], target: Target, roles: Roles, published: KnownSearch | None) -> AttackRequest:
    """The tables are read as the release is; hierarchies belong to its quasi-identifiers."""
    from sqlaudit.release.attacks.api import hierarchies_from, inputs_from
    from sqlaudit.release.attacks.run import chosen

    tables = {
        name: Target(relation=attacker[name], read=target.read)
        for name in ("identified", "other_release")
        if name in attacker
    }
    given = {
        **attacker,
        **tables,
        "categories": inputs_from(attacker.get("categories")),
        "hierarchies": hierarchies_from(attacker.get("hierarchies"), roles),
    }
    request = request_from(AttackRequest, given, published=published)
    chosen(request.only)
    return request


_search_options = shared(
    _published,
    _holds("--require", multiple=True, metavar="MODEL=LIMIT", help="The release is a minimal one that satisfies this."),
    _holds("--node", metavar="LEVELS", help="Its levels, for instance 2,1,0. [default: found from the cells]"),
)


@click.command(cls=Sectioned)
@bucketized_options
@role_options
@given_options(AttackRequest, "attacker")
@_search_options
@output_options
@work_options
@limit_options
def command(
    target: Target,
    db: str | None,
    roles: Roles,
    attacker: Mapping[str, Any],
    published: KnownSearch | None,
    output: Output,
    work: Work,
    limits: Limits,
) -> int:
    """Try attacks on a release: how many persons does each expose, and how surely?

    TARGET is the release. Every attack that has what it needs is tried; the others say what
    they lack. The exit code is 0 whatever they find: `sqlaudit audit` gives verdicts.

    \b
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis \\
          --identified voters.csv --match zip,age,sex
    """
    from sqlaudit.cli.plan import show_statements
    from sqlaudit.cli.session import session
    from sqlaudit.release.attacks.api import attacked
    from sqlaudit.release.attacks.report import attack_document
    from sqlaudit.release.attacks.run import plan_attacks

    request = _request(attacker, target, roles, published)
    with session(db, limits, work, target, *request.targets) as engine:
        if work.dry_run or work.explain:
            relation = engine.open(target)
            show_statements(
                engine, relation.tables or (target.name,), plan_attacks(engine, target, roles), work, output
            )
            return ExitCode.OK
        result = attacked(engine, target, roles, request)
    output.emit(lambda: attack_document(result), result.to_dict)
    return ExitCode.OK
