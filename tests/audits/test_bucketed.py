"""A release that `lattice` or `recode` publishes in buckets: two files that say what the release in one table says."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits import release
from sqlaudit.base.errors import EngineError, UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.papers.tables import find_table
from sqlaudit.remedies.recode.result import RecodeResult
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run as command
from tests.remedies.unmeasured import unmeasured  # noqa: F401
from tests.strategies import run

FIGURE = find_table("004:figure-3")
TABLE = pd.DataFrame(FIGURE.rows, columns=FIGURE.columns)
ASKED: dict[str, Any] = {
    "qi": ["zip", "age", "sex"],
    "sensitive": "disease",
    "identifier": ["name"],
    "require": ["k=5", "l=3"],
}


def recode(*table: Any, **asked: Any) -> RecodeResult:
    """A recoding, without the best node of the lattice to compare it with."""
    return sqlaudit.recode(*table, **asked, lattice=False)


REMEDIES = [sqlaudit.lattice, recode]
pytestmark = pytest.mark.usefixtures("unmeasured")


def _paths(folder: Path, ending: str = "csv") -> dict[str, Path]:
    return {"to": folder / f"persons.{ending}", "buckets_to": folder / f"values.{ending}"}


@pytest.mark.parametrize("remedy", REMEDIES)
@pytest.mark.parametrize("original", [False, True])
def test_both_files_say_what_the_release_says(remedy: Any, original: bool, tmp_path: Path) -> None:
    found = remedy(TABLE, **ASKED, **_paths(tmp_path), original_qi=original)
    made = found.published if remedy is sqlaudit.lattice else found.release
    assert (made.file, made.buckets) == (str(tmp_path / "persons.csv"), str(tmp_path / "values.csv"))
    assert (made.audit.status, made.audit.rows) == ("pass", 10)
    persons, values = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("persons", "values"))
    assert list(persons.columns) == ["bucket", "zip", "age", "sex"]
    assert list(values.columns) == ["bucket", "disease", "persons"]
    told = persons.drop(columns="bucket").astype(str).values.tolist()
    if original:
        assert Counter(map(tuple, told)) == Counter(
            map(tuple, TABLE[["zip", "age", "sex"]].astype(str).values.tolist())
        )
    else:
        assert "*" in {cell for row in told for cell in row}
    second = {"table": tmp_path / "values.csv", "column": "bucket", "count": "persons"}
    audited = sqlaudit.audit(
        tmp_path / "persons.csv", buckets=second, qi=["bucket"], sensitive="disease", require="l=3"
    )
    assert (audited.passed, audited.rows, audited.classes.sizes) == (True, 10, ((5, 2),))  # women and men


def test_figure_3_in_buckets_is_the_original_of_the_paper(tmp_path: Path) -> None:
    chosen = {**ASKED, "qi": ["sex"], "identifier": ["name", "zip", "age"]}
    sqlaudit.lattice(TABLE, **chosen, **_paths(tmp_path, "parquet"))
    second = {"table": tmp_path / "values.parquet", "column": "bucket", "count": "persons"}
    asked: dict[str, Any] = {"buckets": second, "qi": ["bucket"], "sensitive": "disease"}
    curve = sqlaudit.disclosure_curve(tmp_path / "persons.parquet", knowledge=2, **asked).disclosure.curve
    assert [str(value) for value in curve] == ["2/5", "2/3", "1"]


@run(6, some=2)
@given(st.data())
def test_buckets_have_the_values_of_their_persons(engine: Engine, data: st.DataObject) -> None:
    row = st.tuples(st.integers(20, 23), st.sampled_from(["a", "b"]), st.sampled_from(["flu", "it's", None]))
    rows = data.draw(st.lists(row, min_size=3, max_size=8))
    remedy = data.draw(st.sampled_from(REMEDIES))
    original = data.draw(st.booleans())
    target = Target(
        query=values_query([dict(zip("nts", one, strict=True)) for one in rows], {"n": "int", "t": "text", "s": "text"})
    )
    asked: dict[str, Any] = {"qi": ["n", "t"], "sensitive": "s", "require": "k=2", "db": engine}
    with TemporaryDirectory() as folder:
        paths = _paths(Path(folder), "parquet")
        remedy(target, **asked, **paths, original_qi=original)
        persons, values = (pd.read_parquet(paths[name]).astype(object) for name in ("to", "buckets_to"))
    held: dict[Any, Counter[Any]] = defaultdict(Counter)
    for bucket, value, count in values.itertuples(index=False):
        held[bucket][None if pd.isna(value) else value] += count
    assert {bucket: sum(counts.values()) for bucket, counts in held.items()} == Counter(persons.bucket)
    assert sum(held.values(), Counter()) == Counter(value for _, _, value in rows)
    if original:
        where = dict(zip(map(tuple, persons[["n", "t"]].values.tolist()), persons.bucket, strict=True))
        expected: dict[Any, Counter[Any]] = defaultdict(Counter)
        for number, text, value in rows:
            expected[where[number, text]][value] += 1
        assert held == expected


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"sensitive": (), "require": "k=2"},
            "buckets_to= needs sensitive columns, whose values the buckets contain. Name them wit",
        ),
        ({"sensitive": "lower(disease)"}, "buckets_to= needs sensitive columns"),
        ({"nulls": "distinct"}, "buckets_to= makes a bucket from each group"),
        (
            {"entity": "name", "identifier": ()},
            "makes a bucket from each group of rows with the same quasi-identifiers, one row a per",
        ),
        ({"to": None}, "buckets_to= also needs to=, a file for the rows of people. A SELECT is not possible"),
        ({"to": "release.sql"}, "buckets_to= also needs to=, a file for the rows of people"),
        ({"buckets_to": None}, "original_qi=True applies to a release in buckets: add buckets_to=."),
        ({"buckets_to": "values.txt"}, "'values.txt' must end in .csv, .parquet, .xlsx, .sav or .dta."),
    ],
)
@pytest.mark.parametrize("remedy", REMEDIES)
def test_what_has_no_buckets_is_refused(
    remedy: Any, more: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given_ = {"to": "persons.csv", "buckets_to": "values.csv", "original_qi": True, **ASKED, **more}
    with pytest.raises(UsageError) as caught:
        remedy(TABLE, **given_)
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_starred_rows_and_views_have_no_buckets(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Views and starred rows have no buckets"):
        sqlaudit.lattice(TABLE, **ASKED, **_paths(tmp_path), suppressed="star")


def test_one_file_cannot_take_both_tables(tmp_path: Path) -> None:
    both = {"to": tmp_path / "a.csv", "buckets_to": tmp_path / "a.csv"}
    for publish in (recode, sqlaudit.lattice):
        with pytest.raises(UsageError, match=r"^buckets_to= and to= name the same file\. Give each its own\.$"):
            publish(TABLE, **ASKED, **both)
    (tmp_path / "b.csv").write_text("")
    (tmp_path / "c.csv").hardlink_to(tmp_path / "b.csv")  # one file by two names
    for publish in (recode, sqlaudit.lattice):
        with pytest.raises(UsageError, match="is named twice for writing"):
            publish(TABLE, **ASKED, to=tmp_path / "b.csv", buckets_to=tmp_path / "c.csv")


def test_files_that_say_something_else_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = TABLE.assign(disease=["", None, "a", "b", "c"] * 2)
    asked = {**ASKED, "qi": ["sex"], "identifier": ["name", "zip", "age"], "require": "l=5", "values": "exact"}
    with pytest.raises(EngineError, match=r"deleted.*they do not meet 'l=5'.* empty text .*parquet files"):
        sqlaudit.lattice(empty, **asked, **_paths(tmp_path))
    assert not list(tmp_path.iterdir())
    sqlaudit.lattice(empty, **asked, **_paths(tmp_path, "parquet"))
    monkeypatch.setattr(release.InBuckets, "count", property(lambda _: "bucket_"))
    statements = release._statements
    monkeypatch.setattr(release, "_statements", lambda engine, made: statements(engine, made)[:1] * 2)
    with pytest.raises(EngineError, match="The two tables of buckets were deleted"):
        recode(TABLE, **ASKED, **_paths(tmp_path))


def test_the_commands_say_both_files(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    TABLE.to_csv(file, index=False)
    asked = ["--qi", "zip,age,sex", "--sensitive", "disease", "--identifier", "name", "--require", "k=5"]
    written = ["--to", tmp_path / "p.csv", "--buckets-to", tmp_path / "v.csv"]
    for name, *more in (("lattice",), ("recode", "--no-lattice")):
        ran = command(name, file, *asked, *written, *more, "--original-qi")
        assert ran.code == 0, ran.err
        assert f"wrote the values of their buckets to '{tmp_path / 'v.csv'}'." in ran.err
        assert f"Written to {tmp_path / 'p.csv'}, the values of its buckets to" in ran.said
    over = command("recode", file, *asked, "--to", tmp_path / "p.csv", "--buckets-to", file)
    assert (over.code, "is an input" in over.err) == (2, True)
