/* sqlaudit: release_independent */
WITH pairs AS (
    SELECT v1, g1, SUM(n) AS n
    FROM patients
    GROUP BY v1, g1
)
SELECT
    COALESCE(
        SUM(
            CAST(pairs.n AS DOUBLE)
            * COALESCE(cells_1.covered_rows, 1) / words_1.row_count
        ), 0
    ) AS independent,
    COALESCE(
        SUM(
            CAST(pairs.n AS DOUBLE)
            * 1 / words_1.row_count
        ), 0
    ) AS independent_most
FROM pairs
JOIN patients AS words_1 ON pairs.v1 = words_1.id
LEFT JOIN patients AS cells_1 ON pairs.g1 = cells_1.code
