{# For one column the levels of cells in rows that are not suppressed as a whole, and whether a cell lies beside them.
   A missing value stays missing below the top, and says nothing of the level. #}
SELECT cells.level, BOOL_OR(cells.is_odd) AS odd
FROM {{ classes }} AS classes
JOIN {{ cells }} AS cells ON classes.g{{ place }} = cells.code
WHERE NOT classes.is_whole AND NOT (cells.code = 0 AND cells.is_value)
GROUP BY cells.level
ORDER BY cells.level
