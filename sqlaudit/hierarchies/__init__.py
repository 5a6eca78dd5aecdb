"""Hierarchies: how the values of quasi-identifiers are generalized, and what a released cell stands for.

- `read_hierarchies` reads them from a file, a folder or a mapping, and returns `Hierarchy`s with their `Level`s;
- `dictionary.dictionary` has the values of a column with their labels, checked;
- `levels.level_sql` and `levels.published_column` write a level as SQL;
- `cell_reader.reader_of` and `cell_reader.plain_reader` read the cells of a release (`cells`), and
  `dictionary.membership` finds the values in each cell.
"""
