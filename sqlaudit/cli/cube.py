"""`sqlaudit cube`: make the finest groups of a table that may be queried freely."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.parameter_names import speaking
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import CertificateFile, certificate_options, whole_request
from sqlaudit.cli.requests import PATH, OptionGroup, in_section
from sqlaudit.cli.runner import Job, job_command
from sqlaudit.cubes.request import CubeRequest
from sqlaudit.cubes.result import CubeResult

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine

_policy_option = in_section("Policy")
_cube = whole_request(CubeRequest, publish_sql="Print the SELECT of the cube.")
_policy_options = (
    _policy_option(
        "-f", "--file", "policy", type=PATH, metavar="POLICY", help="Make the cube that a policy describes."
    ),
    _policy_option("--select", metavar="TABLE", help="With -f: the table, if several have a cube."),
    _policy_option("--force", is_flag=True, help="With -f: replace an existing cube."),
)


def _request_of(*, policy: Path | None, select: str | None, force: bool, **values: Any) -> dict[str, object]:
    """Return the request of the command line, or that of a policy, and the database.

    Raises:
        UsageError: options beside a policy, or a policy without such a cube.
    """
    if policy is None:
        if select or force:
            raise UsageError("--select and --force need -f.")
        return {**_cube.make(**values), "by_policy": False}
    from sqlaudit.cli.policy_files import made_by_policy, refuse_options
    from sqlaudit.gates.cube_section import with_destination
    from sqlaudit.gates.result import CubeLimit

    refuse_options(_cube, "cube")
    made, db = made_by_policy(policy, select or "", CubeLimit, "cube", force=force)
    return {"request": with_destination(made, made.file, over=force), "db": db, "by_policy": True}


@job_command(OptionGroup(_request_of, *_cube.parameters, *_policy_options), certificate_options)
def command(job: Job, request: CubeRequest, certificate: CertificateFile, by_policy: bool) -> int:
    """Make the finest groups of a table that may be published, so that any query on them may run.

    A block is a group of people with the same dimensions. Blocks with fewer people than the
    threshold, or whose sums fail a rule, are left out of everything. The others have their people,
    rows, and the sum and count of each measure. Exit code 0: a cube was made, 1: no block is left.

    \b
      sqlaudit cube patients.csv --dimensions "age=5 years,sex,region" --measures income \\
          --entity person --require threshold=10 --require dominance=n:1,k:85 --to cube.parquet
      sqlaudit cube -f sqlaudit.yml --certificate cube.json
    """
    from sqlaudit.cubes.run import code_of
    from sqlaudit.cubes.run import cube as cube_command
    from sqlaudit.gates.nodes import in_a_policy

    def code(result: CubeResult) -> ExitCode:
        if result.file and request.publication.file is not None and not request.publication.table:
            tell(f"wrote {result.blocks:,} blocks to {result.file!r}.")
        elif request.publication.wanted and not result.passed:
            say("nothing was published: no cube was made.")
        return code_of(result)

    with speaking(in_a_policy) if by_policy else nullcontext():
        run = None if certificate.file is None else _certified(request, certificate, job.db is not None)
        return job.run(cube_command, request, run, code=code)


def _certified(request: CubeRequest, certificate: CertificateFile, db: bool) -> Callable[[Engine], CubeResult]:
    """Return a function that makes a cube and writes its certificate. Its key is read now, before any work begins.

    Raises:
        UsageError: the certificate cannot be written, or the cube is not a file.
    """
    from sqlaudit.certificates.certificate import sign_certificate
    from sqlaudit.cubes.run import make_cube
    from sqlaudit.gates.cube_certificate import certify_cube, refuse_uncertified

    refuse_uncertified(request)
    key = certificate.signing_key()

    def make(engine: Engine) -> CubeResult:
        result = make_cube(engine, request)
        if result.passed:
            unsigned = certify_cube(request, result, db)
            certificate.write(unsigned if key is None else sign_certificate(unsigned, key))
        return result

    return make
