"""Every command on Spark: in one process, with executors in processes of their own, on a server of Spark Connect."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest

from tests.engines import matrix
from tests.spark_session import JAVA, connect_server

pytestmark = pytest.mark.spark
OLD = pyspark.__version__.startswith("3.5.")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the test's own; Spark as pip installs it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JDK_JAVA_OPTIONS", JAVA)
    monkeypatch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))


@pytest.mark.skipif(OLD, reason="the columns of today's Spark")
@pytest.mark.parametrize(("key", "place"), [("spark", "spark:local[1]"), ("cluster", "spark:local-cluster[2,1,1024]")])
def test_every_command_on_spark_gives_the_figures_of_duckdb(key: str, place: str) -> None:
    assert matrix.found_at(key, place) == matrix.recorded()[key]


@pytest.mark.skipif(OLD, reason="the column of today's Spark Connect")
def test_every_command_on_spark_connect_gives_the_figures_of_duckdb(tmp_path_factory: pytest.TempPathFactory) -> None:
    with connect_server(tmp_path_factory.mktemp("connect")) as server:
        assert matrix.found_at("connect", server) == matrix.recorded()["connect"]


@pytest.mark.skipif(not OLD, reason="the column of Spark 3.5")
def test_every_command_on_spark_3_5_gives_the_figures_of_duckdb() -> None:
    assert matrix.found_at("spark 3.5", "spark:local[1]") == matrix.recorded()["spark 3.5"]
