"""Results in notebooks."""

from __future__ import annotations


class Shown:
    """A result that a notebook shows as its report, pictures included."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The page of `--format html`, in a frame of its own that keeps its style and its names to itself."""
        # reports know results, so that a result can only ask for them once it is there
        from sqlaudit.reports.notebook import framed

        return framed(self)
