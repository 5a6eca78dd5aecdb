"""Hierarchies: how the values of quasi-identifiers become coarser, and what a released cell stands for.

- `read_hierarchies` reads them from a file, a folder or a mapping; `Hierarchy` and the `Level`s are what it gives;
- `dictionary.dictionary` has the values of a column with their labels, checked;
- `level_sql.level_sql` and `level_sql.published` write a level as SQL;
- `cell_reader.reader_of` and `cell_reader.plain_reader` read the cells of a release (`cells`), and
  `membership.membership` tells which values lie in which cells.
"""

from sqlaudit.hierarchies.hierarchy import Hierarchy, Name, Use, ValueTable, dropped, from_table, heights, kept, plain
from sqlaudit.hierarchies.levels import (
    TOP,
    DateLevel,
    DatePart,
    Level,
    MappedLevel,
    MaskLevel,
    SqlLevel,
    TopLevel,
    WidthLevel,
    date_levels,
    mask_levels,
    width_levels,
)
from sqlaudit.hierarchies.read import Hierarchies, read_hierarchies, read_hierarchy, read_section

__all__ = [
    "TOP",
    "DateLevel",
    "DatePart",
    "Hierarchies",
    "Hierarchy",
    "Level",
    "MappedLevel",
    "MaskLevel",
    "Name",
    "SqlLevel",
    "TopLevel",
    "Use",
    "ValueTable",
    "WidthLevel",
    "date_levels",
    "dropped",
    "from_table",
    "heights",
    "kept",
    "mask_levels",
    "plain",
    "read_hierarchies",
    "read_hierarchy",
    "read_section",
    "width_levels",
]
