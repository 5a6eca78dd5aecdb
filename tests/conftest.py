"""Fixtures that several test modules share. A test that needs PostgreSQL fails, and does not skip, without a server."""

from __future__ import annotations

import gc
import os
import re
import secrets
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import Limits
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from tests.audit_values import values_query

if TYPE_CHECKING:  # the browser's environment has no driver
    from tests.postgres_load import Loader
    from tests.postgres_server import PostgresServer


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of the test's own. Its name is as long in every run: reports wrap the paths that they name. And it has
    letters alone that no value of a test is made of: tests look for values in what names a path."""
    while True:
        name = "sqlaudit-" + "".join(secrets.choice("jqvwz") for _ in range(8))
        folder = Path(tempfile.gettempdir()).resolve() / name
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server that lives as long as the test run."""
    from tests.postgres_load import prepare
    from tests.postgres_server import NoServer, new_server

    try:
        server = new_server()
        server.start()
    except NoServer as reason:
        pytest.fail(str(reason), pytrace=False)
    try:
        prepare(server)
        yield server
    finally:
        server.delete()


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """A URL for the role `auditor`, which may read what it was granted and nothing else."""
    return postgres_server.url()


@pytest.fixture(scope="session")
def lasting_postgres_url(postgres_url: str) -> str:
    """For an engine that outlives a test: some tests count, or end, every session that is called sqlaudit."""
    return postgres_url + "&application_name=lasting"


@pytest.fixture(scope="session")
def postgres_admin_url(postgres_server: PostgresServer) -> str:
    """A URL for the superuser, for preparing and for comparing before and after."""
    return postgres_server.admin_url()


@pytest.fixture(scope="session")
def load(postgres_server: PostgresServer) -> Iterator[Loader]:
    """`load(name, rows, columns)` makes a table that the auditor may read; see `Loader.__call__`.

    Load before an engine is opened: an engine sees the database as it was when it connected.
    """
    from tests.postgres_load import Loader

    loader = Loader(postgres_server)
    yield loader
    loader.close()


AuditOn = Callable[..., AuditResult]


ENGINES = ("duckdb", "postgres", "spark")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--engines spark` runs the tests that run on engines, and these alone, on Spark (needs pyspark and Java)."""
    parser.addoption("--engines", default="", help="comma-separated: " + ", ".join(ENGINES))
    parser.addoption("--cases", choices=("some", "all"), default="some", help="how many of the random cases to run")
    said = "tests of `long.txt`; without when the whole suite is run, with when tests are named"
    parser.addoption("--long", choices=("with", "without", "only"), default=None, help=said)


def pytest_configure(config: pytest.Config) -> None:
    """Told by the environment too: the number of randomized cases is settled when the modules are imported."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background; tests press Ctrl-C and wait for it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup; tests hang up, too
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ["SQLAUDIT_ENGINES"] = ",".join(_engines(config))
    os.environ["SQLAUDIT_CASES"] = config.getoption("--cases")
    if not hasattr(config, "workerinput"):  # workers are told
        usual = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.getoption("--engines")
        usual = usual and config.getoption("--cases") == "some"
        os.environ["SQLAUDIT_LONG"] = config.getoption("--long") or ("without" if usual else "with")
    if "spark" in _engines(config):  # pyspark's own: sockets that it leaves to the collector, and versions of pandas
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")
        config.addinivalue_line("filterwarnings", "ignore:.*unclosed <socket")
        config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas:FutureWarning")
        from tests.spark_choice import Complete

        config.pluginmanager.register(Complete(config))


LONG = frozenset(Path(__file__).with_name("long.txt").read_text(encoding="utf-8").splitlines())
"""The tests that a run of the whole suite leaves out."""
OF_THEIR_OWN = ("agents", "browser", "dbt", "orchestrators", "servers", "warehouses")
"""Folders of tests that need an environment of their own, and run when they are named."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of Spark's own engine need pyspark to be imported; what has an environment of its own is asked for."""
    if collection_path.is_dir() and collection_path.parent == Path(__file__).parent:
        named = any(f"tests/{collection_path.name}" in str(given) for given in config.args)
        return True if collection_path.name in OF_THEIR_OWN and not named else None
    return True if collection_path.name.startswith("test_spark") and "spark" not in _engines(config) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test of `engine_name` runs on each engine, unless it says itself on which."""
    if "engine_name" in metafunc.fixturenames and not _chooses_engines(metafunc.definition):
        on_spark = any(metafunc.definition.iter_markers("spark"))
        names = ["spark"] if on_spark else _engines(metafunc.config)
        metafunc.parametrize("engine_name", names, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--engines`, only what runs on one of these engines, or is marked with its name; never Spark without it."""
    chosen = _engines(config)
    if config.getoption("--engines"):
        kept = [item for item in items if _runs_on(item, chosen)]
    else:
        kept = [item for item in items if not item.get_closest_marker("spark")]
    if config.getoption("--cases") != "all":
        kept = _usual(kept)
        if "spark" in chosen:
            from tests.spark_choice import chosen as chosen_on_spark

            kept = chosen_on_spark(kept)
    if (wanted := os.environ["SQLAUDIT_LONG"]) != "with":
        kept = [item for item in kept if (_without_case(item).removeprefix("tests/") in LONG) == (wanted == "only")]
    staying = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in staying])
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """A randomized body that runs on several engines gets fewer of its cases where each takes longer."""
    engine_name = _engine_of(item)
    body = getattr(item, "obj", None)
    if engine_name is None or not getattr(body, "is_hypothesis_test", False) or _chooses_engines(item):
        return (yield)
    from tests.strategies import fewer_on

    chosen = body._hypothesis_internal_use_settings  # where hypothesis itself looks; fails when that changes
    with patch.object(body, "_hypothesis_internal_use_settings", fewer_on(engine_name, chosen)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where the shared data must be there (`SQLAUDIT_NEEDS_DATA=1`), a test that skips for want of them fails."""
    report = yield
    if report.skipped and item.get_closest_marker("shared_data") and os.environ.get("SQLAUDIT_NEEDS_DATA"):
        report.outcome, report.longrepr = "failed", "SQLAUDIT_NEEDS_DATA is set, and the test skipped for want of data"
    return report


def pytest_collection_finish() -> None:
    """What lives as long as the tests need not be looked through by each collection of garbage: a tenth of the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Extensions tell at the end what no one took down."""
    gc.unfreeze()


SHARED_OUT = re.compile(r"/test_(docs|stories|\w+_oracle|evaluate|search_large)\.py::")
"""Modules of few and long tests. They would come last as a whole, and one process would wait minutes for the other."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A module runs in one process, but for those of few and long tests, which are shared among all."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class LongOnesApart(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if SHARED_OUT.search(nodeid) else super()._split_scope(nodeid)

    return LongOnesApart(config, log)


def _usual(items: list[pytest.Item]) -> list[pytest.Item]:
    """No case marked `all_cases`; on PostgreSQL the first of the cases of a test marked `few_on_postgres`."""
    kept, seen = [], Counter[str]()
    for item in items:
        few = item.get_closest_marker("few_on_postgres")
        if item.get_closest_marker("all_cases"):
            continue
        if few is not None and _engine_of(item) == "postgres":
            seen[_without_case(item)] += 1
            if seen[_without_case(item)] > few.args[0]:
                continue
        kept.append(item)
    return kept


def _chooses_engines(item: pytest.Item) -> bool:
    """Whether a test says itself on which engines it runs."""
    return any(marker.args[0] == "engine_name" for marker in item.iter_markers("parametrize"))


def _without_case(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _engines(config: pytest.Config) -> list[str]:
    given = str(config.getoption("--engines"))
    return given.split(",") if given else ["duckdb", "postgres"]


def _engine_of(item: pytest.Item) -> str | None:
    called = getattr(item, "callspec", None)
    return called.params.get("engine_name") if called is not None else None


def _runs_on(item: pytest.Item, engines: Sequence[str]) -> bool:
    named = _engine_of(item)
    return named in engines if named is not None else any(item.get_closest_marker(name) for name in engines)


@pytest.fixture(scope="session")
def engine_name(request: pytest.FixtureRequest) -> str:
    """Every engine in turn; a test that uses it runs its body on each."""
    return str(request.param)


@pytest.fixture(scope="session")
def engine(engine_name: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One open engine a test run: tables reach it as queries, so that nothing is created."""
    url = None
    if engine_name == "spark":
        from tests.spark_session import small_engine

        with small_engine() as opened:
            yield opened
        return
    if engine_name == "postgres":
        # in a database of its own: its snapshot, open to the end, keeps VACUUM from removing rows of the others
        url = request.getfixturevalue("postgres_server").url(database="postgres") + "&application_name=lasting"
    with connect(url, Limits(threads=1)) as opened:  # more than one only wait for each other over a few rows
        yield opened


@pytest.fixture(scope="session")
def small_spark(engine: Engine) -> Iterator[str]:
    """What `--db` says for the Spark of this run; sessions that are opened meanwhile are for small tables."""
    from tests.spark_session import small_sessions

    with small_sessions():
        yield "spark:local[1]"


@pytest.fixture(scope="session")
def spark_url() -> Iterator[str]:
    """The same for a test that asks for its engine by name, and is marked for it."""
    from tests.spark_session import small_engine, small_sessions

    with small_engine(), small_sessions():
        yield "spark:local[1]"


@pytest.fixture(scope="session")
def audit_on(engine: Engine) -> AuditOn:
    """`audit_on(rows, columns, qi=…, …)` audits rows of dicts on the engine; `columns` gives their kinds.

    Persons are judged for who knows one row of theirs, as the oracle has them. On Spark the columns are not looked at
    for warnings, whose statement is the largest of such an audit and has tests of its own.
    """

    def audit(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], **request: Any) -> AuditResult:
        known = {"known_rows": "one"} if request.get("entity") else {}
        unwarned = patch("sqlaudit.audits.run.audit_warnings", lambda *asked: [])
        with unwarned if engine.dialect == "spark" else nullcontext():
            return sqlaudit.audit(query=values_query(rows, columns), db=engine, **known | request)

    return audit
