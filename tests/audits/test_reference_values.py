"""Published and independently measured figures on UCI Adult, beside the checkout; skipped where it is not there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.spec import ReadOptions
from tests.places import REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data"
ADULT = DATA / "adult_with_missing.csv"
SUBSET = DATA / "adult_arx" / "adult.csv"
TRAIN_ROWS = 32_561

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SUBSET.exists(), reason="UCI Adult is not beside the checkout"),
]
NINE = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]


def levels(result: AuditResult) -> dict[str, Any]:
    return {name: level for check in result.checks for name, level in [(check.model, check.level)]}


def subset(**request: Any) -> AuditResult:
    return sqlaudit.audit(str(SUBSET), read=ReadOptions(delimiter=";"), **request)


@pytest.fixture(scope="module")
def train() -> Any:
    """The train file: the first rows of all of them, `?` kept as a value, as pycanon read it."""
    import pandas as pd

    frame = pd.read_csv(ADULT, keep_default_na=False, dtype={"age": int})
    return frame.head(TRAIN_ROWS).replace("", "?")


@pytest.mark.parametrize(
    ("qi", "sensitive", "classes", "unique", "beta", "delta", "t"),
    [
        (
            "age,education,occupation,relationship,sex,native-country",
            "income",
            15_093,
            10_154,
            3.152659099604642,
            2.98259391741754,
            0.7591904425539756,
        ),
        ("sex,race,marital-status", "occupation", 63, 1, 37.083040935672514, 4.008733211519826, 0.8741132029114584),
        ("education,sex,race", "age", 152, 5, 240.19259259259255, 5.485595753737139, None),
    ],
)
def test_pycanon_on_the_train_file(
    train: Any, qi: str, sensitive: str, classes: int, unique: int, beta: float, delta: float, t: float | None
) -> None:
    result = sqlaudit.audit(train, qi=qi.split(","), sensitive=sensitive)
    found = levels(result)
    assert result.rows == TRAIN_ROWS
    assert (found["k_anonymity"], found["distinct_l_diversity"], found["alpha_k_anonymity"]) == (1, 1, 1.0)
    assert result.classes.count == classes
    assert dict(result.classes.sizes)[1] == unique
    assert found["basic_beta_likeness"] == pytest.approx(beta, rel=1e-12)
    [check] = [check for check in result.checks if check.model == "delta_disclosure_privacy"]
    assert check.levels["delta_present"] == pytest.approx(delta, rel=1e-12)
    if t is not None:
        assert found["t_closeness"] == pytest.approx(t, rel=1e-12)
    else:
        assert found["t_closeness_ordered"] == pytest.approx(0.3912454700408463, rel=1e-12)


def test_pycanon_on_the_subset_that_arx_ships() -> None:
    qi = ["age", "education", "occupation", "sex", "native-country"]
    result = subset(qi=qi, sensitive="salary-class")
    found = levels(result)
    assert (result.classes.count, dict(result.classes.sizes)[1]) == (8_889, 5_176)
    assert found["basic_beta_likeness"] == pytest.approx(3.0173148641449123, rel=1e-12)
    assert found["t_closeness"] == pytest.approx(0.7510775147536636, rel=1e-12)
    [check] = [check for check in result.checks if check.model == "delta_disclosure_privacy"]
    assert check.levels["delta_present"] == pytest.approx(2.421803783942239, rel=1e-12)


def test_risks_of_the_raw_table_as_arx_computes_them() -> None:
    result = subset(qi=NINE)
    found = levels(result)
    assert result.rows == 30_162
    assert result.classes.count == 19_502
    assert result.classes.sizes[:10] == tuple(enumerate([15512, 2098, 754, 375, 189, 155, 97, 73, 39, 37], 1))
    assert found["sample_uniqueness"] == Fraction(15_512, 30_162)
    assert float(found["sample_uniqueness"]) == pytest.approx(0.51429, abs=5e-6)
    assert float(found["average_risk"]) == pytest.approx(0.6465752, abs=5e-8)
    assert float(found["rows_at_risk"]) == pytest.approx(0.7781314, abs=5e-8)


def test_risks_of_eight_columns_as_arx_computes_them() -> None:
    eight = [name for name in NINE if name != "occupation"]
    result = subset(qi=eight, sensitive="occupation")
    found = levels(result)
    assert (result.classes.count, dict(result.classes.sizes)[1]) == (12_458, 8_841)
    assert float(found["average_risk"]) == pytest.approx(0.4130363, abs=5e-8)
    assert float(found["rows_at_risk"]) == pytest.approx(0.5090180, abs=5e-8)
    assert found["prosecutor_risk"] == 1


def test_a_missing_value_matches_any_value_on_all_rows() -> None:
    """Counted once more here: a complete row matches equal rows and the incomplete ones that agree with it."""
    import pandas as pd

    qi = ["workclass", "occupation", "native-country"]
    frame = pd.read_csv(ADULT)
    patterns = frame.groupby(qi, dropna=False).size().reset_index(name="rows")
    keys = [tuple(None if pd.isna(v) else v for v in row) for row in patterns[qi].itertuples(index=False)]
    sizes: dict[int, int] = {}
    for key, rows in zip(keys, patterns["rows"], strict=True):
        matching = sum(
            int(other_rows)
            for other, other_rows in zip(keys, patterns["rows"], strict=True)
            if all(a is None or b is None or a == b for a, b in zip(key, other, strict=True))
        )
        sizes[matching] = sizes.get(matching, 0) + int(rows)
    result = sqlaudit.audit(str(ADULT), qi=qi, nulls="wildcard")
    assert result.classes.sizes == tuple(sorted(sizes.items()))
    assert result.classes.count == result.rows == 48_842
