"""The benchmark of the steps of a node's verdict: every step gives the same verdicts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks import lattice_steps


def test_every_step_decides_the_nodes_of_a_small_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_steps, "QI", ("sex", "age", "occupation"))
    monkeypatch.setattr(lattice_steps, "SAMPLE", 4)
    chance = random.Random(3)
    rows = [f"{chance.choice('fm')};{chance.randint(20, 23)};{chance.choice('abc')}" for _ in range(40)]
    (tmp_path / "adult.csv").write_text("\n".join(["sex;age;occupation", *rows]), encoding="utf-8")
    hierarchies = {"sex": "f;*\nm;*\n", "age": "20;a;*\n21;a;*\n22;b;*\n23;b;*\n", "occupation": "a;*\nb;*\nc;*\n"}
    for name, text in hierarchies.items():
        (tmp_path / f"adult_hierarchy_{name}.csv").write_text(text, encoding="utf-8")
    found = list(lattice_steps.steps(tmp_path, 1))
    assert [nodes for _, nodes, _, _ in found] == [4, 4, 4, 4, 12, 6, 6]
