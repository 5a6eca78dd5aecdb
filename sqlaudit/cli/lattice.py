"""`sqlaudit lattice`: the least generalization that makes a table safe, and the view or file that publishes it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.files import check_destination, exists, write_text
from sqlaudit.base.parameter_names import speaking
from sqlaudit.cli.exits import say, tell
from sqlaudit.cli.options import whole_request
from sqlaudit.cli.output import say_written
from sqlaudit.cli.requests import PATH, OptionGroup, in_section
from sqlaudit.cli.runner import Job, job_command, progress_callback
from sqlaudit.lattices.request import LatticeRequest

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine
    from sqlaudit.gates.result import ReleaseLimit
    from sqlaudit.lattices.result import LatticeResult
    from sqlaudit.lattices.search.inquiry import Progress

_ToSave = tuple[Path, Callable[..., str]]
_policy_option = in_section("Policy")
_search = whole_request(LatticeRequest, last=("to", "bom", "buckets_to", "original_qi", "suppressed", "keep_column"))
_policy_options = (
    _policy_option(
        "-f", "--file", "policy", type=PATH, metavar="POLICY", help="Make the release that a policy describes."
    ),
    _policy_option("--select", metavar="TABLE", help="With -f: the table, if several have a release."),
    _policy_option(
        "--save",
        type=PATH,
        metavar="FILE",
        writes=True,
        help="Write a policy that makes this release again, and tests it.",
    ),
    _policy_option("--force", is_flag=True, help="Replace an existing release of -f, or policy of --save."),
)


def _request_of(
    *, policy: Path | None, select: str | None, save: Path | None, force: bool, **values: Any
) -> dict[str, object]:
    """Return the search of the command line, or that of a policy; `release` of a policy, and `saved`, one to write.

    Raises:
        UsageError: options beside a policy, which says all of them, or a release that no policy can make.
    """
    if policy is None:
        if select or (force and save is None):
            raise UsageError("--select needs -f, and --force needs -f or --save.")
        saved = None if save is None else (save, _policy_to_write(save, values, force=force))
        return {**_search.make(**values), "release": None, "saved": saved}
    if save is not None:
        raise UsageError("-f and --save exclude each other: the policy is there already.")
    from sqlaudit.cli.policy_files import made_by_policy, refuse_options
    from sqlaudit.gates.nodes import in_a_policy
    from sqlaudit.gates.release_section import with_destination
    from sqlaudit.gates.result import ReleaseLimit

    refuse_options(_search, "release")
    release, db = made_by_policy(policy, select or "", ReleaseLimit, "release", force=force)
    with speaking(in_a_policy):
        request = with_destination(release, release.file)
    return {"request": request, "release": release, "saved": None, "db": db}


def _policy_to_write(file: Path, values: Mapping[str, Any], *, force: bool) -> Callable[..., str]:
    """Return what writes the policy of a search when its hierarchies and levels are known; called before any work.

    Raises:
        UsageError: the file cannot be written, or a release that no policy can make again.
    """
    from sqlaudit.cli.init import connection_of, relative_to_folder
    from sqlaudit.gates.release_section import FILES
    from sqlaudit.gates.saved_policy import saved_policy

    check_destination(file, (".yml", ".yaml"))
    if exists(file) and not force:
        raise UsageError(f"{str(file)!r} exists. Replace it with --force, or name another file with --save.")
    folder = file.absolute().parent
    name, query, db, to = (values[key] for key in ("name", "query", "db", "to"))
    if name == "-" or (query and not db):
        raise UsageError("--save names the table in a policy, so it needs a file, or --db with a table or --query.")
    if to is not None and to.suffix.lower() not in FILES:
        raise UsageError(f"--save needs a release whose rows are in a file: --to must end in {' or '.join(FILES)}.")
    if unsaved := [flag for key, flag in _NOT_SAVED.items() if values[key]]:
        raise UsageError(f"--save writes a policy of a release in one file. Leave out {', '.join(unsaved)}.")
    path = relative_to_folder(name, folder) if name and (exists(name) or has_magic(name)) else name
    place = {"query": query, "name": "query"} if query else {"table": name} if db else {"file": path}
    connection = connection_of(db, ", and write its name as 'env' into the policy.") if db else None
    if connection is not None and connection[0] == "duckdb":
        connection = "duckdb", relative_to_folder(connection[1], folder)
    files = {key: relative_to_folder(values[key], folder) if values[key] else "" for key in ("to", "inputs")}
    return partial(saved_policy, place, connection, files)


_NOT_SAVED = {"publish_view": "--publish-view", "buckets_to": "--buckets-to"}


@job_command(OptionGroup(_request_of, *_search.parameters, *_policy_options))
def command(job: Job, request: LatticeRequest, release: ReleaseLimit | None, saved: _ToSave | None) -> int:
    """Find the least generalization that makes a table safe, and publish it.

    A node of the lattice is one level of generalization for every quasi-identifier. The table is
    counted once, in its database; nothing is changed there without --execute. With -f, the table,
    its requirements and the levels are those of a policy.

    \b
      sqlaudit lattice patients.csv --qi age,sex,zip --sensitive diagnosis \\
          --hierarchies hierarchies.yml --require k=5 --require l=3 --suppress 2%
      sqlaudit lattice -f sqlaudit.yml
    Exit code 0: a safe node was found, 1: no node is safe (or the audit of the release
    fails), 4: time limit reached.
    """
    from sqlaudit.cli.signals import LastResort
    from sqlaudit.gates.nodes import in_a_policy
    from sqlaudit.gates.saved_policy import hierarchies_in_full
    from sqlaudit.lattices.run import code_of, lattice, make_view, search_and_publish

    publication, hierarchies = request.publication, dict[str, object]()

    def run(engine: Engine) -> LatticeResult:
        if saved is not None:
            hierarchies.update(hierarchies_in_full(engine, request, saved[0].absolute().parent))
        return search_and_publish(engine, request, progress_callback(engine, _progress_text, _progress_share))

    def finish(result: LatticeResult) -> LatticeResult:
        with LastResort(job.limits.timeout):
            result = make_view(request, result, job.db, job.limits)
        if saved is not None and result.best is not None:
            write_text(saved[0], saved[1](request, hierarchies, result.named(result.best.levels)))
        return result

    def code(result: LatticeResult) -> ExitCode:
        published = result.published
        if publication.wanted and published is None:
            say("nothing was published: no node is safe.")
        elif published is not None and published.executed:
            kind = "view" if publication.view else "table"
            tell(f"created the {kind} {publication.created!r}.")
        elif published is not None and published.audit is not None:
            say_written(publication, published.audit.rows)
        if saved is not None and result.best is None:
            say(f"{str(saved[0])!r} was not written: no node is safe.")
        elif saved is not None:
            file = str(saved[0])
            tell(f"wrote the policy {file!r}. Test the release with: sqlaudit test -f {shlex.quote(file)}")
        return code_of(result)

    with ExitStack() as stack:
        if release is not None:
            stack.enter_context(speaking(in_a_policy))
        return job.run(lattice, request, run, code=code, finish=finish)


def _progress_share(progress: Progress) -> float | None:
    """Return the share of nodes that are decided, None if their number is unknown."""
    return progress.decided / progress.total if progress.total else None


def _progress_text(progress: Progress) -> str:
    """Return the text of the progress bar: nodes decided of all, and the best loss so far."""
    from sqlaudit.reports.document import figure

    best = "" if progress.best is None else f", best so far {figure(progress.best)}"
    return f"{progress.decided:,} of {progress.total:,} nodes decided{best}"
