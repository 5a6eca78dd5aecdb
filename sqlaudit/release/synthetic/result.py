"""What a synthetic table discloses of the people behind it. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from sqlaudit.base import result as base
from sqlaudit.models.base import Check, WithVerdict
from sqlaudit.reports.notebook import Shown

Share = Annotated[Fraction | float, base.FROM_0_TO_1]


@dataclass(frozen=True)
class SyntheticRows(base.Documented):
    """The rows of the tables; `holdout` is null without one."""

    original: int
    synthetic: int
    holdout: int | None


@dataclass(frozen=True)
class IdentityDisclosure(base.Documented):
    """Who is unique in their quasi-identifiers, as shares of the rows; null where there are none.

    Args:
        uio: rows of the original (or holdout) that are unique there. uis: synthetic rows that are unique there.
        uiois: rows of the original that are unique there and occur in the synthetic table.
        rep_u: rows that are unique in both.
    """

    uio: Share | None
    uis: Share | None
    uiois: Share | None
    rep_u: Share | None


@dataclass(frozen=True)
class DisclosiveGroups(base.Documented):
    """Disclosive groups of one size: of several synthetic rows, all with the value of a row of the original.

    Args:
        size: the fewest synthetic rows of a group: 1, 2, 3 (to 4), 5 (to 9) or 10 (and more).
        groups: how many groups. rows: the original's rows with this value.
    """

    size: Annotated[int, base.FROM_1]
    groups: int
    rows: int


@dataclass(frozen=True)
class MostCommon(base.Documented):
    """Guessing a sensitive attribute's most common value.

    Args:
        share: the original's rows with it, which is how often the guess is right.
        of_disclosed: its share of the rows that are correctly disclosed; null where none are.
        value: the value, only where values are shown.
    """

    share: Share | None
    of_disclosed: Share | None
    value: str | None = field(default=None, metadata=base.IF_ANY)


@dataclass(frozen=True)
class AttributeDisclosure(base.Documented):
    """What groups of the synthetic table disclose of one sensitive attribute, as shares; null where undefined.

    Args:
        sensitive: the attribute. dorig: rows of the original (or holdout) whose group there has one value.
        dsyn: synthetic rows whose group has one value. in_synthetic: rows whose group occurs in the synthetic table.
        dis: rows whose group in the synthetic table has one value. disco: of all rows, those whose own value that is.
        disdio: of all rows, those whose group in the original has one value, too.
        cap_d, base_cap_d: how often a guess is right that is drawn in proportion to the rows in the original,
            in the group or in the table. cap_s: the same in the synthetic table's groups, about its own rows.
        dcap: how often a guess is right that is drawn in proportion to the rows in the synthetic table.
        tcap: disco as a share of dis. tcap_alt: disco as a share of is.
        most_common: guessing the most common value. by_size: the disclosive groups; both null for a holdout.
    """

    sensitive: str
    dorig: Share | None
    dsyn: Share | None
    in_synthetic: Share | None = field(metadata=base.key("is"))
    dis: Share | None
    disco: Share | None
    disdio: Share | None
    cap_d: Share | None
    base_cap_d: Share | None
    cap_s: Share | None
    dcap: Share | None
    tcap: Share | None
    tcap_alt: Share | None
    most_common: MostCommon | None = None
    by_size: tuple[DisclosiveGroups, ...] | None = None


@dataclass(frozen=True)
class RowCopies(base.Documented):
    """Synthetic rows that equal a row of the original (or holdout), in the columns that all tables have.

    Args:
        columns: how many columns were compared. rows: synthetic rows that equal one in all of them.
        all_but_one_column: other synthetic rows that equal one in all but one column; null with a single column.
        unique_in_original: of `rows`, those that equal a row that the original (or holdout) has only once.
        copied: rows of the original (or holdout) that occur in the synthetic table.
    """

    columns: int
    rows: int
    all_but_one_column: int | None
    unique_in_original: int
    copied: int


@dataclass(frozen=True)
class ExcessDisclosed(base.Documented):
    """A share of the original's rows minus the same share of the holdout's.

    Args:
        measure: `copies` is the rows that occur in the synthetic table. sensitive: null where it is about none.
        inside, outside: the share of the original's rows, and of the holdout's.
        excess: null where it is undefined, or where the measure depends on the table's size and the sizes differ.
        low, high: the interval at 95%; null for measures of a table that count no row by itself.
    """

    measure: base.Code
    sensitive: str | None
    inside: Share | None
    outside: Share | None
    excess: Annotated[Fraction | float, base.ANY_NUMBER] | None
    low: Annotated[float, base.ANY_NUMBER] | None
    high: Annotated[float, base.ANY_NUMBER] | None


@dataclass(frozen=True)
class HoldoutDisclosure(base.Documented):
    """The same figures for people who were not used, and what the table discloses of the people inside beyond that.

    Args:
        shared: rows that original and holdout both have, counted as often as both have them.
    """

    identity: IdentityDisclosure
    attributes: tuple[AttributeDisclosure, ...]
    copies: RowCopies
    shared: int
    excess: tuple[ExcessDisclosed, ...]

    def of(self, measure: str, sensitive: str | None = None) -> ExcessDisclosed:
        """The excess of a measure, of the first sensitive attribute without `sensitive`."""
        return next(one for one in self.excess if one.measure == measure and sensitive in (None, one.sensitive))


@dataclass(frozen=True)
class KnownKeys(base.Documented):
    """What someone learns who knows only some quasi-identifiers.

    Args:
        keys: the columns. sensitive: the attribute; null without one. rep_u, dis, disco: as above.
        excess, high, low: of disco over the holdout, with the ends of its interval; null without a holdout.
    """

    keys: tuple[str, ...]
    sensitive: str | None
    rep_u: Share | None
    dis: Share | None
    disco: Share | None
    excess: Annotated[Fraction | float, base.ANY_NUMBER] | None = None
    high: Annotated[float, base.ANY_NUMBER] | None = None
    low: Annotated[float, base.ANY_NUMBER] | None = None


@dataclass(frozen=True)
class SpreadRows(base.Documented):
    """The rows of both tables in one bin of a column."""

    original: int
    synthetic: int

    def __add__(self, other: SpreadRows) -> SpreadRows:
        return SpreadRows(self.original + other.original, self.synthetic + other.synthetic)


@dataclass(frozen=True)
class ColumnShape(base.Documented):
    """How far the values of a column are apart in both tables, missing ones left out.

    Args:
        name: the column. measure: `kolmogorov-smirnov` for numbers, dates and times: the largest difference between
            the shares of rows up to a value. `total-variation` for others: half the sum of the differences of shares.
        distance: 0 for equal shares, 1 for no value in common; null where a table has no value.
        bins: rows by bin: numbers from small to large, dates from early to late, other values from the most frequent on
            with all further ones last; then missing values. Empty for columns after the twelfth. A bin of fewer than
            five rows of the original is in one with its neighbour.
    """

    name: str
    measure: Annotated[str, Literal["kolmogorov-smirnov", "total-variation"]]
    distance: Share | None
    bins: tuple[SpreadRows, ...]


@dataclass(frozen=True)
class PairShape(base.Documented):
    """How strongly two columns are associated in each table, by their bins.

    Args:
        columns: the two columns. original, synthetic: Cramér's V, from 0 for independent columns to 1; null where a
            column has a single bin. distance: total variation of the shares of pairs of bins; null for an empty table.
    """

    columns: tuple[str, str]
    original: Share | None
    synthetic: Share | None
    distance: Share | None


@dataclass(frozen=True)
class SyntheticFigures(base.Documented):
    """What a synthetic table discloses; shares from 0 to 1, null where undefined.

    Args:
        rows: of the tables. identity: who is unique in which table. attributes: one entry per sensitive attribute.
        copies: rows that occur in both tables. holdout: the same for people who were not used; null without them.
        columns: the shape of each compared column in both tables.
        pairs: the association of each two of the first twelve columns.
        known: fewer known quasi-identifiers, the most disclosing first; only when they were asked for.
    """

    rows: SyntheticRows
    identity: IdentityDisclosure
    attributes: tuple[AttributeDisclosure, ...]
    copies: RowCopies
    holdout: HoldoutDisclosure | None = None
    columns: tuple[ColumnShape, ...] = ()
    pairs: tuple[PairShape, ...] = ()
    known: tuple[KnownKeys, ...] = field(default=(), metadata=base.IF_ANY)


@dataclass(frozen=True, kw_only=True, repr=False)
class SyntheticResult(WithVerdict, base.MeasuredResult, Shown):
    """A synthetic table compared with its original, and with people who were not used.

    Args:
        engine: the engine and its version. original, release, holdout: the tables' names.
        nulls: how a missing quasi-identifier is read. synthetic: what was found.
        warnings: what a reader should know of the tables. checks: the verdict on each requirement.
    """

    schema: ClassVar = "sqlaudit-synthetic/1"
    shown_by: ClassVar = "sqlaudit.release.synthetic.report:SyntheticReport"
    frame_of: ClassVar = "synthetic.attributes"

    engine: str = ""
    original: str
    release: str
    holdout: str | None
    qi: tuple[str, ...] = field(metadata=base.key("roles.quasi_identifiers"))
    sensitive: tuple[str, ...] = field(metadata=base.key("roles.sensitive"))
    nulls: base.Nulls = field(metadata=base.key("roles.nulls"))
    compared: tuple[str, ...] = field(metadata=base.key("copied_columns"))
    synthetic: SyntheticFigures
    warnings: tuple[base.Warned, ...] = ()
    checks: tuple[Check, ...] = field(default=(), metadata=base.IF_ANY)

    @property
    def target(self) -> str:
        """The compared tables, in a few words."""
        return f"{self.release} beside {self.original}"

    def attribute(self, name: str) -> AttributeDisclosure:
        """The figures of a sensitive attribute.

        Raises:
            KeyError: it was not named.
        """
        return {one.sensitive: one for one in self.synthetic.attributes}[name]
