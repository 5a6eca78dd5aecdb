/* sqlaudit: lattice_costs */
SELECT
    1 AS level,
    '*' AS label,
    CAST(SUM(row_count) AS BIGINT) AS row_count,
    COUNT(*) AS value_count,
    SUM(row_count * LOG2(row_count)) AS weighted_bits,
    CAST(NULL AS DOUBLE) AS width
FROM "dictionary_sex" AS dictionary
WHERE row_count > 0
HAVING COUNT(*) > 0
ORDER BY level, label NULLS LAST
