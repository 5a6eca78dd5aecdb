/* sqlaudit: release_misfits */
SELECT
    CAST(COALESCE(SUM(pairs.n), 0) AS BIGINT) AS row_total,
    CAST(COALESCE(SUM(CASE WHEN cells.is_value THEN pairs.n ELSE 0 END), 0) AS BIGINT) AS of_values
FROM (
    SELECT v1 AS word, g1 AS cell, SUM(n) AS n
    FROM patients
    WHERE c IS NOT NULL
    GROUP BY v1, g1
) AS pairs
JOIN patients AS cells ON pairs.cell = cells.code
LEFT JOIN patients AS cover ON pairs.word = cover.word AND pairs.cell = cover.cell AND cover.fits
WHERE cover.word IS NULL
