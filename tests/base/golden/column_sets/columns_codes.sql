/* sqlaudit: columns_codes */
WITH lows AS (
    SELECT
        MIN(c0) AS low_c0,
        COUNT(*) AS total
    FROM patients
)
SELECT
    CAST(COALESCE(CAST(source.c0 AS HUGEINT) - low_c0 + 1, 0) AS INTEGER) AS c0
FROM patients AS source
CROSS JOIN lows
