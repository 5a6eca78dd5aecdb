"""`sqlaudit releases`, `compare`, `attack`: a release together with other tables."""

from __future__ import annotations

from sqlaudit.cli.runner import Job, job_command
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.series.request import SeriesRequest


@job_command(SeriesRequest)
def releases(job: Job, request: SeriesRequest) -> int:
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
    from sqlaudit.release.series.run import releases as command

    return job.run(command, request)


@job_command(CompareRequest)
def compare(job: Job, request: CompareRequest) -> int:
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
    from sqlaudit.release.compare.run import compare as command

    return job.run(command, request)


@job_command(AttackRequest)
def attack(job: Job, request: AttackRequest) -> int:
    """Try attacks on a release and count the people that each exposes.

    TARGET is the release. Every attack is tried if its inputs are given; the report lists what
    the others need. The exit code is always 0: `sqlaudit audit` gives verdicts.

    \b
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis
      sqlaudit attack release.csv --qi zip,age,sex --sensitive diagnosis \\
          --identified voters.csv --match zip,age,sex
    """
    from sqlaudit.release.attacks.run import attack as command

    return job.run(command, request)
