"""The bar itself, imported when one is drawn."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text


class _TimeLeft(TimeRemainingColumn):
    """How long it still takes; nothing where nobody knows."""

    def render(self, task: Task) -> Text:
        return Text() if task.time_remaining is None else Text("left: ").append_text(super().render(task))


def bar_on(console: Console) -> Progress:
    """A bar that leaves nothing behind."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), _TimeLeft(compact=True))
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
