/* sqlaudit: release_column_losses */
SELECT
    level,
    CAST(SUM(m) AS BIGINT) AS row_total,
    CAST(SUM(CASE WHEN is_value THEN m ELSE 0 END) AS BIGINT) AS kept,
    CAST(SUM(CASE WHEN is_whole THEN m ELSE 0 END) AS BIGINT) AS whole,
    SUM(m * entropy) AS entropy,
    SUM(CAST(m AS DOUBLE) * covered_rows * entropy) AS weighted_entropy,
    SUM(m * LOG2(covered_rows)) AS bits,
    CAST(SUM(CAST(m AS HUGEINT) * (covered_values - 1)) AS HUGEINT) AS further_values,
    CAST(SUM(CASE WHEN covered_values > 1 THEN CAST(m AS HUGEINT) * covered_values ELSE 0 END) AS HUGEINT) AS shared_values,
    SUM(m * width) AS width
FROM patients
WHERE m > 0
GROUP BY level
ORDER BY level
