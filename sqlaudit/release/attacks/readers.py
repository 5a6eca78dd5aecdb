"""What generalized cells of a release stand for, read by the one parser of such cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlaudit.release.attacks.base import Scene
from sqlaudit.release.attacks.fits import Readers


@dataclass(frozen=True)
class PlainReader:
    """Reads no cell but `*`, which stands for everything."""

    reads_all: bool = False

    def covered(self, cell: str, others: Sequence[str]) -> Iterable[str]:
        """Nothing."""
        return ()


def readers_of(scene: Scene) -> Readers:
    """The reader of each column."""
    return lambda label: PlainReader()
