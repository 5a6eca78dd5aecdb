/* sqlaudit: release_kept_levels */
SELECT cells.level, BOOL_OR(cells.is_odd) AS odd
FROM patients AS classes
JOIN patients AS cells ON classes.g1 = cells.code
WHERE NOT classes.is_whole AND NOT (cells.code = 0 AND cells.is_value)
GROUP BY cells.level
ORDER BY cells.level
