/* sqlaudit: standalone_cells */
WITH cells AS (
    SELECT
turnover AS x, first AS x1, second AS x2
    FROM patients
),
counted AS (
    SELECT
        COUNT(*) AS cells,
        COALESCE(SUM(CASE WHEN x IS NULL THEN 1 ELSE 0 END), 0) AS hidden_cells,
        COALESCE(SUM(CASE WHEN x <> 0 AND x1 IS NULL THEN 1 ELSE 0 END), 0) AS undecided_cells,
        COALESCE(SUM(CASE WHEN (x - (COALESCE(x1, 0) + COALESCE(x2, 0))) * 10 < x1 * 1 THEN 1 ELSE 0 END), 0) AS unsafe_cells
    FROM cells
),
answered AS (
SELECT
    counted.*,
    CASE WHEN unsafe_cells > 0 THEN 'fail' WHEN cells = 0 OR hidden_cells > 0 OR undecided_cells > 0 THEN 'undecided' ELSE 'pass' END AS verdict
FROM counted
)
SELECT
    't_k_5' AS test_id,
    cells AS classes,
    CASE WHEN CAST(unsafe_cells AS DOUBLE) > 1.797693134862315E308 THEN 1.797693134862315E308 ELSE CAST(unsafe_cells AS DOUBLE) END AS level,
    verdict
FROM answered
