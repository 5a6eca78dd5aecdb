"""Hierarchies: how the values of quasi-identifiers become coarser, and what a released cell stands for.

- `read_hierarchies` reads them from a file, a folder or a mapping; `Hierarchy` and the `Level`s are what it gives;
- `dictionary.dictionary` has the values of a column with their labels, checked;
- `levels.level_sql` and `levels.published` write a level as SQL;
- `cell_reader.reader_of` and `cell_reader.plain_reader` read the cells of a release (`cells`), and
  `dictionary.membership` tells which values lie in which cells.
"""
