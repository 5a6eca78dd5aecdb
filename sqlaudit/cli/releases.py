"""`sqlaudit releases`, `compare`, `attack`: a release together with other tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.cli.options import (
    bucket_parameters,
    bucketized_options,
    in_buckets,
    read_parameters,
    require_of,
    require_options_of,
    role_options,
)
from sqlaudit.cli.requests import (
    OptionGroup,
    given_options,
    group_options,
    in_section,
    read_request,
    request_options,
    whole_number,
)
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.release.attacks.request import AttackRequest, KnownSearch
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.series.request import SeriesRequest

if TYPE_CHECKING:
    from sqlaudit.release.compare.result import CompareResult


# `sqlaudit releases`: what several releases of one table disclose in combination.


def _release_targets(*, names: tuple[str, ...], db: str | None, **values: Any) -> dict[str, Any]:
    """Return the releases as targets, and their database."""
    read = read_request(ReadOptions, **values)
    return {"targets": [Target(relation=name, read=read) for name in names], "db": db}


@job_command(
    OptionGroup(
        _release_targets,
        click.Argument(["names"], metavar="RELEASE RELEASE...", nargs=-1),
        in_section("Input")(
            "--db",
            metavar="DATABASE",
            help="A DuckDB file, or a PostgreSQL URL or conninfo. Default: the releases are files.",
        ),
        *read_parameters,
    ),
    request_options(SeriesRequest, "request"),
    require_of("OF_RELEASES", "Requirements", "MODEL=LIMIT", "m_invariance=3"),
)
def releases(job: Job, targets: list[Target], request: SeriesRequest) -> int:
    """Find what several releases of one table disclose in combination.

    Each release may be safe on its own. A person in several releases has a value that all of their
    classes have. If only one such value is possible, they are singled out. Name all releases, each
    with the unpublished column that identifies the person. Exit code with --require, 0: the
    requirement is met, 1: it fails.

    \b
      sqlaudit releases may.csv june.csv july.csv --entity id --qi age,zip --sensitive diagnosis
      sqlaudit releases --db clinic.duckdb may june july --entity id --qi age,zip \\
          --sensitive diagnosis --require m_invariance=3
    """
    from sqlaudit.release.series.run import find_in_releases, plan_releases

    request = replace(request, requirements=job.demands.requirements)
    return job.run_old(
        lambda engine, _: plan_releases(engine, targets, request),
        lambda engine: find_in_releases(engine, targets, request),
        lambda result: verdict(result.passed),
        targets=targets,
    )


# `sqlaudit compare`: a release and its original.

_input_option = in_section("Input")


def _compared_tables(
    *, original: str, release: str, other_release: str | None, holdout: str | None, db: str | None, **values: Any
) -> dict[str, Any]:
    """Return the compared tables as targets by their role, and their database.

    Raises:
        UsageError: a table has an empty name.
    """
    bucket_options = (values.pop("buckets"), values.pop("bucket_column"), values.pop("bucket_count"))
    read = read_request(ReadOptions, **values)
    names = {"original": original, "release": release, "other": other_release, "holdout": holdout}
    named = {role: name for role, name in names.items() if name is not None}
    if not all(named.values()):
        raise UsageError("Every table needs a name, but one is empty.")
    tables = {role: Target(relation=name, read=read) for role, name in named.items()}
    tables["release"] = in_buckets(tables["release"], *bucket_options)
    return {"db": db, "tables": tables}


_table_options = OptionGroup(
    _compared_tables,
    click.Argument(["original"]),
    click.Argument(["release"]),
    _input_option("--db", metavar="DATABASE", help="A DuckDB file, or a PostgreSQL URL. Default: both are files."),
    _input_option("--other-release", metavar="TABLE", help="Another release, to compare how coarse both are."),
    _input_option("--holdout", metavar="TABLE", help="With --synthetic: people who were not used for the release."),
    *read_parameters,
    *bucket_parameters,
)


@job_command(_table_options, given_options(CompareRequest, "comparison"), require_options_of("OF_COMPARISONS"))
def compare(job: Job, tables: dict[str, Any], comparison: dict[str, Any]) -> int:
    """Compare a release with its original: is it derived from it, is it safe, what was lost?

    The release is also audited by itself and attacked, as far as this needs no other table.
    `sqlaudit attack` has more attacks.

    \b
      sqlaudit compare patients.csv release.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5
      sqlaudit compare patients.csv synthetic.csv --synthetic --holdout others.csv \\
          --qi age,sex,zip --sensitive diagnosis --require disco=5%,exact_copies=0
    Exit code 1: the release fails a requirement, or is not a generalization of the original.
    """
    from sqlaudit.release.compare.run import compare_tables, plan_comparison
    from sqlaudit.release.synthetic.run import find_disclosure, plan_disclosure

    request = job.request(CompareRequest, comparison, **tables)
    if request.synthetic:
        return job.run_old(
            lambda engine, _: plan_disclosure(engine, request),
            lambda engine: find_disclosure(engine, request),
            lambda result: verdict(result.passed),
            targets=request.targets,
        )
    return job.run_old(
        lambda engine, _: plan_comparison(engine, request),
        lambda engine: compare_tables(engine, request),
        code_of,
        targets=request.targets,
    )


def code_of(result: CompareResult) -> ExitCode:
    """Return the exit code of a comparison's result."""
    from sqlaudit.release.compare.result import Answer

    unsafe = bool(result.audit.required) and not result.audit.passed
    return verdict(not unsafe and result.generalization.answer is not Answer.NO)


# `sqlaudit attack`: attacks on a release.

_knowledge_option = in_section("Attacker's knowledge")


def _known_search(*, require: tuple[str, ...], node: str | None) -> KnownSearch | None:
    """Return the requirements and levels of the search that made the release, None if they are unknown.

    Raises:
        UsageError: levels without requirements, or levels that are no whole numbers.
    """
    from sqlaudit.models.registry import parse_requirements

    if not require:
        if node is not None:
            raise UsageError("--node needs the requirement of the search: name it with --require.")
        return None
    try:
        levels = None if node is None else tuple(whole_number(level) for level in node.split(","))
    except ValueError:
        raise UsageError("--node takes one level per quasi-identifier, for example 2,1,0.") from None
    return KnownSearch(tuple(requirement for text in require for requirement in parse_requirements(text)), levels)


_search_options = group_options(
    "published",
    _known_search,
    _knowledge_option(
        "--require", multiple=True, metavar="MODEL=LIMIT", help="Requirement of the search that made the release."
    ),
    _knowledge_option(
        "--node", metavar="LEVELS", help="Levels of the release, for example 2,1,0. [default: found from the cells]"
    ),
)


@job_command(bucketized_options, role_options, given_options(AttackRequest, "attacker"), _search_options)
def attack(job: Job, attacker: Mapping[str, Any], published: KnownSearch | None) -> int:
    """Try attacks on a release and count the people that each exposes.

    TARGET is the release. Every attack is tried if its inputs are given; the report lists what
    the others need. The exit code is always 0: `sqlaudit audit` gives verdicts.

    \b
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis \\
          --identified voters.csv --match zip,age,sex
    """
    from sqlaudit.release.attacks.run import attacked, chosen, hierarchies_from, inputs_from, plan_attacks

    options = {
        **job.with_tables(attacker, "identified", "other_release"),
        "categories": inputs_from(attacker.get("categories")),
        "hierarchies": hierarchies_from(attacker.get("hierarchies"), job.roles),
    }
    request = job.request(AttackRequest, options, published=published)
    chosen(request.only)
    return job.run_old(
        lambda engine, _: plan_attacks(engine, job.target, job.roles),
        lambda engine: attacked(engine, job.target, job.roles, request),
        targets=[job.target, *request.targets],
    )
