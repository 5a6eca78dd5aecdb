"""What an audit costs, fitted from the measurements, and what that says of tables and clusters no one has measured.

    processor seconds = start + a · rows + b · rows · QIs + c · classes + d · cells
    shuffled bytes    = w · groups,  groups = tasks · classes · (1 - (1 - 1/classes)^(rows/tasks))
    seconds           = start + processor seconds / (cores · efficiency) + shuffled / network + read / disks

`cells` are the different pairs of a class and a value. A task of a cluster counts its own rows first, so that it sends
no more than one group a class: that is the expected number of classes among its rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.scale.fitting import Fit, fit
from benchmarks.scale.records import Record

FEW = 8
"""With fewer measurements only the start, the rows and the cells are fitted."""
LARGEST_COUNTED = 400
"""The largest classes whose partitions are counted one by one."""
TERMS = ("start", "row", "row and QI", "class", "cell")


@dataclass(frozen=True)
class Table:
    """What the model needs to know of a table.

    Args:
        cells: pairs of a class and a value that occur.
    """

    rows: float
    classes: float
    qis: int
    cells: float

    @property
    def terms(self) -> tuple[float, ...]:
        """The amounts that the constants are multiplied with."""
        return 1.0, self.rows, self.rows * self.qis, self.classes, self.cells


@dataclass(frozen=True)
class Cluster:
    """Machines that work together.

    Args:
        machines, cores, memory: how many, and what each has; memory in bytes.
        network, disk: bytes a second, of each machine.
        efficiency: the share of processor time that goes into the work when all cores are asked for.
        start: seconds before the first task runs.
    """

    machines: int
    cores: int
    memory: float
    network: float = 1.25e9
    disk: float = 0.5e9
    efficiency: float = 0.7
    start: float = 30.0


@dataclass(frozen=True)
class Prediction:
    """Seconds and bytes of one audit.

    Args:
        processor: seconds of all cores together.
        clock: seconds until the result.
        shuffled, state: bytes over the network, and bytes of groups that all machines hold at once.
        state_share: of all memory.
    """

    processor: float
    clock: float
    shuffled: float
    state: float
    state_share: float


def expected_cells(rows: float, classes: float, values: int) -> float:
    """How many pairs of a class and a value the generated tables have, about: values are drawn with floor(v·u²).

    Value j has the share sqrt((j+1)/v) - sqrt(j/v); a class of n rows has it with probability 1 - (1 - share)^n.

    Example:
        >>> round(expected_cells(1_000_000, 100, 14))
        1400
    """
    shares = [math.sqrt((j + 1) / values) - math.sqrt(j / values) for j in range(values)]
    size = rows / classes
    return classes * sum(-math.expm1(size * math.log1p(-share)) if share < 1 else 1.0 for share in shares)


def groups_sent(rows: float, classes: float, tasks: float) -> float:
    """How many groups the tasks of a cluster send, each having counted its own rows.

    Example:
        >>> groups_sent(1_000, 1, 10), round(groups_sent(1_000, 1_000_000_000, 10), 3)
        (10, 1000.0)
    """
    if classes <= 1:
        return tasks * classes
    return tasks * classes * -math.expm1(rows / tasks * math.log1p(-1 / classes))


def signatures_at_most(rows: int, classes: int, values: int) -> int:
    """A bound on the different signatures that worst-case disclosure reads into the driver.

    Classes with the same counts in any order share one, so that those of n rows have no more of them than n has
    partitions into `values` parts at most; and there are no more than rows / n classes of n rows and more.

    Example:
        >>> signatures_at_most(10, 10, 2), signatures_at_most(1_000_000, 5, 14)
        (6, 5)
    """
    partitions = [1] + [0] * LARGEST_COUNTED
    for part in range(1, min(values, LARGEST_COUNTED) + 1):
        for size in range(part, LARGEST_COUNTED + 1):
            partitions[size] += partitions[size - part]
    best, below = classes, 0
    for size in range(1, LARGEST_COUNTED + 1):
        below += partitions[size]
        best = min(best, below + min(classes, rows // (size + 1)))
    return best


def cells_counted(records: Iterable[Record]) -> dict[object, int]:
    """The cells of each table, as the bare GROUP BY has counted them."""
    return {record.shape: int(record.levels) for record in records if record.task == "group by"}


def table_of(record: Record, cells: dict[object, int]) -> Table:
    """A measured table; its cells counted where they are."""
    counted = cells.get(record.shape) or expected_cells(record.rows, record.classes, record.values)
    return Table(record.rows, record.classes, record.qis, counted)


def fitted(
    records: Sequence[Record], engine: str, task: str = "audit", *, values: int = 48, most: int | None = None
) -> tuple[Fit, list[Record]]:
    """The constants of an engine and a task, and the measurements they come from.

    Args:
        values: tables with that many sensitive values or more are left out: other SQL counts them.
        most: tables with more rows are left out, to see how the model does on them; None = none are.
    """
    cells = cells_counted(records)
    chosen = [
        r
        for r in records
        if (r.engine, r.task) == (engine, task) and r.values < values and (most is None or r.rows <= most)
    ]
    terms = [table_of(record, cells).terms for record in chosen]
    if len(chosen) < FEW:  # too little to tell classes from cells, and rows from columns
        terms = [(start, rows, 0.0, 0.0, cells_) for start, rows, _, _, cells_ in terms]
    return fit(terms, [max(record.cpu, 0.01) for record in chosen]), chosen


def processor_seconds(constants: Sequence[float], table: Table) -> float:
    """What the model says."""
    return sum(constant * amount for constant, amount in zip(constants, table.terms, strict=True))


def predict(
    constants: Sequence[float], table: Table, cluster: Cluster, *, group_bytes: float, read: float, tasks: float = 0
) -> Prediction:
    """An audit on a cluster.

    Args:
        group_bytes: what a group takes on the network, and in memory about twice.
        read: compressed bytes that a scan reads.
        tasks: into how many parts the rows are split; 0 = four for each core.
    """
    cores = cluster.machines * cluster.cores
    tasks = tasks or 4 * cores
    processor = processor_seconds(constants, table)
    shuffled = group_bytes * groups_sent(table.rows, table.classes, tasks)
    state = 2 * group_bytes * table.classes
    clock = (
        cluster.start
        + processor / (cores * cluster.efficiency)
        + shuffled / (cluster.network * cluster.machines)
        + read / (cluster.disk * cluster.machines)
    )
    return Prediction(processor, clock, shuffled, state, state / (cluster.memory * cluster.machines))


def crossover_cores(cluster: Sequence[float], machine: Sequence[float], table: Table, efficiency: float = 0.7) -> float:
    """How many cores of a cluster do as much as one core of a single machine, start, shuffle and reading left out.

    Args:
        cluster, machine: the constants of both.

    Example:
        >>> crossover_cores((9.0, 7e-6, 0, 0, 0), (0.1, 1e-6, 0, 0, 0), Table(1e9, 1e6, 4, 1e7))
        10.0
    """
    theirs, ours = (processor_seconds(constants, table) - constants[0] for constants in (cluster, machine))
    return theirs / ours / efficiency
