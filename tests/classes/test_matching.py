"""What patterns match, against every pair of cells."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlaudit.base.errors import Incomplete
from sqlaudit.base.spec import Limits
from sqlaudit.classes import matching
from sqlaudit.classes.matching import match_patterns
from sqlaudit.engines import connect
from tests.strategies import run

Keys = list[tuple[int, ...]]
keys = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 2, 3, 300])] * width), min_size=1, max_size=25)
)


@pytest.mark.parametrize("pairs", [1, 20, matching._BLOCK_PAIRS])
@pytest.mark.parametrize("numpy_1", [False, True])
def test_patterns_match_what_every_pair_of_cells_says(
    pairs: int, numpy_1: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "_BLOCK_PAIRS", pairs)
    monkeypatch.setattr(matching, "_BATCH_CELLS", 3 * pairs)
    if numpy_1 and hasattr(np, "bitwise_count"):
        monkeypatch.delattr(np, "bitwise_count")

    @run(200, 40)
    @given(keys, st.data())
    def compare(keys: Keys, data: st.DataObject) -> None:
        lanes = data.draw(st.lists(st.integers(0, 90), min_size=len(keys), max_size=len(keys)))
        counts = data.draw(st.lists(st.integers(1, 1000), min_size=len(keys), max_size=len(keys)))
        expected: Counter[tuple[int, int]] = Counter()
        numbers = {key: number for number, key in enumerate(sorted(set(keys)), 1)}
        for key, number in numbers.items():
            for other, lane, count in zip(keys, lanes, counts, strict=True):
                if all(0 in (left, right) or left == right for left, right in zip(key, other, strict=True)):
                    expected[number, lane] += count
        codes = [np.array(column, dtype=np.int32) for column in zip(*keys, strict=True)]
        cells = np.array([numbers[key] for key in keys]), np.array(lanes), np.array(counts)
        matched = [
            (int(pattern), int(lane), int(count))
            for batch in match_patterns(codes, cells, lambda: None)
            for pattern, lane, count in zip(*batch, strict=True)
        ]
        assert sorted(matched) == sorted((*cell, count) for cell, count in expected.items())

    compare()


def test_matching_ends_at_the_time_limit() -> None:
    steps = []
    ones = np.ones(1, dtype=np.int64)
    with connect(limits=Limits(timeout=600)) as engine:
        engine.progress = lambda step, share: steps.append((step, share))
        assert len(list(match_patterns([ones], (ones, ones, ones), lambda: engine.report_step("matching rows")))) == 1
        engine.started -= 700
        with pytest.raises(Incomplete, match="time limit of 600 seconds was reached in matching rows"):
            next(match_patterns([ones], (ones, ones, ones), lambda: engine.report_step("matching rows")))
    assert steps == [("matching rows", None)] * 2
