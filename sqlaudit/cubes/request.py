"""The request for a cube: its dimensions and measures, the rules for its blocks, and where it is written."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import DATABASE, is_duckdb, refuse_existing
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import COLUMN, FILE, FLAG, NAMES, SHARE, VIEW, WHOLE, check_bounds, nested, one_of, option
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import RELEASE, RELEASE_SUFFIXES, ViewPublication
from sqlaudit.base.spec import Folding, Requirement, Target, tables_option, target_part, values_option
from sqlaudit.lattices.request import hierarchies_option
from sqlaudit.models.required import requirements_part

BLOCKS, SHOWN = "Blocks", "Output"
PEOPLE, ROWS = "people", "rows"
"""The columns of a cube with the numbers of people and of rows of a block."""


@dataclass(frozen=True)
class CubePublication(ViewPublication):
    """The destination of a cube.

    Args:
        over: whether a DuckDB file that is a cube is replaced.

    Raises:
        UsageError: a combination that is not defined.
    """

    suffixes: ClassVar[tuple[str, ...]] = (*RELEASE_SUFFIXES, DATABASE)
    file: Path | None = option(
        None,
        FILE,
        "Write the cube to a .parquet, .csv, .xlsx, .sav or .dta file, a new .duckdb file, its SELECT to a .sql file, "
        "or make it a table: table:NAME.",
        RELEASE,
        name="to",
        metavar="FILE",
        writes=True,
    )
    keep: tuple[str, ...] = ()
    view: str = option(
        "", VIEW, "Print the CREATE VIEW of the cube, which changes with the table.", RELEASE, name="publish_view"
    )
    over: bool = False

    def check(self) -> None:
        """Raise UsageError if the cube cannot be written, as far as that is known before any work.

        A database may have more in it than a cube, so a file of that kind is never replaced.
        """
        super().check()
        if self.is_new and self.file is not None:
            refuse_existing(self.file)

    @property
    def is_new(self) -> bool:
        """True if the file must not exist before."""
        return self.file is not None and not (self.table or self.over) and self.file.suffix.lower() == DATABASE


@dataclass(frozen=True)
class CubeRequest:
    """A cube of a table, and the rules for its blocks.

    Args:
        target: the table. dimensions: columns or expressions, some with the level of a hierarchy (`age=5 years`).
        measures: numeric columns or expressions that are added up.
        entity: the column that identifies the person; empty = each row is a person.
        holdings: the column of the holding that a person belongs to. values: whether persons and holdings that folding
            merges count as one.
        negative: `refuse`, or `absolute` to take the absolute value of a person's contribution in rules for sums.
        uniform: `leave-out`, or `keep` for blocks where everyone has the same value of a measure.
        known_contributors: people of a block whose values an attacker may know.
        requirements: the rules for blocks. hierarchies: of dimensions, as for a lattice.
        suppression: the largest share of people that may be left out by the finest levels that are taken; None = the
            levels of the request are taken.
        before: older cubes of the same people, which are files.
        margins: files with totals that are published elsewhere.
        show_blocks: whether the report lists blocks.
        publication: the destination of the cube.

    Raises:
        UsageError: nothing to group by, no threshold, or a rule that does not apply to blocks.
    """

    target: Target = target_part()
    dimensions: tuple[str, ...] = option(
        (),
        NAMES,
        "Columns, expressions, or levels of hierarchies: age=5 years,sex,region.",
        BLOCKS,
        metavar="COLUMNS",
        needed=True,
    )
    measures: tuple[str, ...] = option(
        (), NAMES, "Numeric columns or expressions to add up in each block.", BLOCKS, metavar="COLUMNS"
    )
    entity: str = option(
        "", COLUMN, "Column that identifies the person; without it, each row is a person.", BLOCKS, metavar="COLUMN"
    )
    holdings: str = option(
        "", COLUMN, "Column of the household or group of firms that a person belongs to.", BLOCKS, metavar="COLUMN"
    )
    values: Folding | None = values_option(BLOCKS)
    negative: str = option(
        "refuse", one_of("refuse", "absolute"), "Treatment of negative contributions.", BLOCKS, shown="refuse"
    )
    uniform: str = option(
        "leave-out",
        one_of("leave-out", "keep"),
        "Blocks where everyone has the same value of a measure, such as all 0 or all 1.",
        BLOCKS,
        shown="leave-out",
    )
    known_contributors: int = option(
        0,
        WHOLE,
        "People of a block whose values an attacker may know. They are added to thresholds.",
        BLOCKS,
        metavar="N",
        least=0,
        most=10**6,
        shown="0",
    )
    hierarchies: Any = hierarchies_option()
    suppression: Fraction | None = option(
        None,
        SHARE,
        "Choose the finest levels that leave out at most this share of people: 5%.",
        BLOCKS,
        name="suppress",
        metavar="SHARE",
        least=0,
        most=1,
    )
    requirements: tuple[Requirement, ...] = requirements_part(
        "CELL_RULES",
        "",
        metavar="RULE=LIMIT",
        help="threshold=10, holdings=3, dominance=n:1,k:85, p_percent=10, full_cell=any ...",
        default=(),
    )
    before: tuple[Target, ...] = tables_option(
        "An older cube of changed data to compare with, a file; repeatable.", BLOCKS, metavar="FILE"
    )
    margins: tuple[Target, ...] = tables_option(
        "Totals of the table that are published elsewhere, a file with columns as in the cube; repeatable.",
        BLOCKS,
        metavar="FILE",
    )
    show_blocks: bool = option(False, FLAG, "Show the first blocks of the cube.", SHOWN)
    publication: CubePublication = nested(CubePublication)

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.dimensions:
            raise UsageError(f"No dimensions are given. Name the columns with {spelled('dimensions')}.")
        self._check_rules()
        self.publication.check()

    @property
    def targets(self) -> tuple[Target, ...]:
        """The tables that an engine opens: all that is read but cubes in databases, which are copied first."""
        return (self.target, *(target for target in self.compared if not is_duckdb(target.relation)))

    @property
    def compared(self) -> tuple[Target, ...]:
        """The files that the cube is compared with."""
        return (*self.before, *self.margins)

    @property
    def rules(self) -> tuple[Requirement, ...]:
        """The rules for blocks: those that are required, and that no measure has the same value for everyone.

        Where everyone in a block has one value, its sum can show the value of each of them, however many they are: all
        0 or all 1 of a measure of 0 and 1, and any other value that is the least or largest possible one, or beside the
        sum of squares. Whether a value is one of these is not known here, so only different values count as safe.
        """
        from sqlaudit.models.registry import CELL_RULES, parse_requirement

        uniform = parse_requirement("full_cell=any", among=CELL_RULES)
        is_required = any(
            (rule.model, rule.parameters) == (uniform.model, uniform.parameters) for rule in self.requirements
        )
        is_implied = self.measures and self.uniform == "leave-out" and not is_required
        return (*self.requirements, *([uniform] if is_implied else []))

    @property
    def threshold(self) -> int:
        """The fewest people that a block has, with those whose values an attacker may know."""
        from sqlaudit.models.registry import cell_rule  # `--help` needs no models

        least = max(cell_rule(requirement).fewest or 0 for requirement in self.requirements)
        return least + self.known_contributors

    def _check_rules(self) -> None:
        """Raise UsageError unless there is a threshold, and each rule is required and applies to a single block."""
        from sqlaudit.models.registry import cell_rule

        for requirement in self.requirements:
            if requirement.severity != "error":
                raise UsageError(
                    f"{requirement.text!r} only warns, but a block is in the cube or is not. Require the rule."
                )
            for rule, _ in cell_rule(requirement).of_block(self.measures, self.known_contributors):
                if "h" in rule.columns and not self.holdings:
                    raise UsageError(
                        f"{requirement.text!r} needs the column of holdings. Name it with {spelled('holdings')}."
                    )
        if not any(cell_rule(requirement).fewest for requirement in self.requirements):
            raise UsageError(
                f"No threshold is given: the fewest people of any block. Add {spelled('require', 'threshold=10')}."
            )
        if self.threshold < 2:
            raise UsageError("A block of one person shows that person's values. Require a threshold of at least 2.")
