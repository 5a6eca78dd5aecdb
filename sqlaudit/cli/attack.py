"""`sqlaudit attack`: what an attacker can still do with a release."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.numbers import exact_number
from sqlaudit.base.spec import Limits, Roles, Target
from sqlaudit.cli.options import Work, limit_options, output_options, role_options, target_options, work_options
from sqlaudit.cli.output import Output
from sqlaudit.cli.parsing import share, split_list, split_lists
from sqlaudit.cli.plan import show_statements
from sqlaudit.cli.sections import Sectioned, in_section, shared
from sqlaudit.cli.session import session
from sqlaudit.models.requirements import parse_requirements
from sqlaudit.release.attacks.api import attacked, hierarchies_from, inputs_from
from sqlaudit.release.attacks.report import attack_document
from sqlaudit.release.attacks.request import AttackRequest, KnownSearch, Pair, pair_of
from sqlaudit.release.attacks.run import chosen, plan_attacks

_PATH = click.Path(path_type=Path)
_holds = in_section("What the attacker holds")
_far = in_section("How far")


def _attacker(
    *,
    identified: str | None,
    match: tuple[str, ...],
    key: str | None,
    other_release: str | None,
    other_qi: tuple[str, ...],
    position: str | None,
    categories: Path | None,
    hierarchies: Path | None,
    require: tuple[str, ...],
    node: str | None,
    k: int,
    pieces: int,
    sure: str,
    width: str | None,
    only: tuple[str, ...],
    show_values: bool,
    top: int,
    seed: int,
) -> dict[str, Any]:
    """What becomes the request once target and roles are known."""
    names = split_lists(only, "--only")
    chosen(names)
    return {
        "attacker": {
            "k": k,
            "pieces": pieces,
            "sure": share(sure, "--sure"),
            "width": _number(width),
            "inputs": inputs_from(categories),
            "hierarchies": hierarchies,
            "identified": identified,
            "match": tuple(map(pair_of, split_lists(match, "--match"))),
            "key": _one(key, "--key"),
            "other": other_release,
            "other_qi": split_lists(other_qi, "--other-qi"),
            "position": _one(position, "--position"),
            "published": _published(require, node),
            "show_values": show_values,
            "top": top,
            "seed": seed,
            "only": names,
        }
    }


def _one(text: str | None, option: str) -> Pair | None:
    if text is None:
        return None
    names = split_list(text, option)
    if len(names) > 1:
        raise UsageError(f"{option} takes one column.")
    return pair_of(names[0])


def _number(text: str | None) -> Fraction | None:
    try:
        return None if text is None else exact_number(text)
    except UsageError:
        raise UsageError(f"--width is a number, for instance 5000; {text!r} is none.") from None


def _published(require: tuple[str, ...], node: str | None) -> KnownSearch | None:
    if not require:
        if node is not None:
            raise UsageError("--node says where a search ended; say with --require what it searched for.")
        return None
    try:
        levels = None if node is None else tuple(int(level) for level in node.split(","))
    except ValueError:
        raise UsageError("--node is one level for each quasi-identifier, for instance 2,1,0.") from None
    return KnownSearch(tuple(one for text in require for one in parse_requirements(text)), levels)


def _request(attacker: dict[str, Any], target: Target, roles: Roles) -> AttackRequest:
    """The tables are read as the release is; hierarchies belong to its quasi-identifiers."""
    given = dict(attacker)
    for role in ("identified", "other"):
        given[role] = None if given[role] is None else Target(relation=given[role], read=target.read)
    given["hierarchies"] = hierarchies_from(given["hierarchies"], roles)
    return AttackRequest(**given)


_attacker_options = shared(
    _attacker,
    _holds("--identified", metavar="TABLE", help="A table or file with names: a register of voters, say."),
    _holds("--match", multiple=True, metavar="COLUMNS", help="Link by these: zip,age or zip=plz. [default: the --qi]"),
    _holds("--key", metavar="COLUMN", help="A column in both that says who is who, to confirm matches."),
    _holds("--other-release", metavar="TABLE", help="Another release of the same table."),
    _holds("--other-qi", multiple=True, metavar="COLUMNS", help="Its quasi-identifiers. [default: those it shares]"),
    _holds("--position", metavar="COLUMN", help="What numbers the rows of both. [default: the order of a file]"),
    _holds("--categories", type=_PATH, metavar="FILE", help="Categories of sensitive values (YAML)."),
    _holds("--width", metavar="NUMBER", help="Sensitive numbers this near count as similar (days for dates)."),
    _holds("--hierarchies", type=_PATH, metavar="FILE|FOLDER", help="Hierarchies that cells of the release follow."),
    _holds("--require", multiple=True, metavar="MODEL=LIMIT", help="The release is a minimal one that satisfies this."),
    _holds("--node", metavar="LEVELS", help="Its levels, for instance 2,1,0. [default: found from the cells]"),
    _far("--k", type=int, default=5, show_default=True, help="Who hides among fewer counts as found."),
    _far("--pieces", type=int, default=3, show_default=True, metavar="M", help="The most values ruled out."),
    _far("--sure", default="0.9", show_default=True, metavar="SHARE", help="When a guess counts as nearly sure."),
    _far("--only", multiple=True, metavar="ATTACKS", help="Only these: homogeneity,linkage ..."),
    _far("--show-values", is_flag=True, help="Show exposed classes and values, which may name persons."),
    _far("--top", type=int, default=10, show_default=True, metavar="N", help="How many of them, for each attack."),
    _far("--seed", type=int, default=0, metavar="N", help="The seed of random shuffles."),
)


@click.command(cls=Sectioned)
@target_options
@role_options
@_attacker_options
@output_options
@work_options
@limit_options
def command(
    target: Target, db: str | None, roles: Roles, attacker: dict[str, Any], output: Output, work: Work, limits: Limits
) -> int:
    """Try attacks on a release: how many persons does each expose, and how surely?

    TARGET is the release. Every attack that has what it needs is tried; the others say what
    they lack. The exit code is 0 whatever they find: `sqlaudit audit` gives verdicts.

    \b
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis \\
          --identified voters.csv --match zip,age,sex
    """
    request = _request(attacker, target, roles)
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
