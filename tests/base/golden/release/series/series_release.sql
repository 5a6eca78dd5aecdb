/* sqlaudit: series_release */
WITH given AS (
    SELECT "age" AS q1, "zip" AS q2, "id" AS e, "disease" AS s
    FROM patients
),
cells AS (
    SELECT q1, q2, s, COUNT(*) AS n
    FROM given
    GROUP BY q1, q2, s
),
classes AS (
    SELECT SUM(n) AS size, COUNT(*) AS kinds, SUM(CASE WHEN s IS NULL THEN n ELSE 0 END) AS without
    FROM cells
    GROUP BY q1, q2
),
persons AS (
    SELECT COUNT(*) AS row_total, COUNT(e) AS named, COUNT(DISTINCT e) AS different
    FROM given
)
SELECT
    (SELECT row_total FROM persons) AS row_total,
    (SELECT row_total - named FROM persons) AS nameless,
    (SELECT different FROM persons) AS different,
    COUNT(*) AS classes,
    CAST(MIN(size) AS BIGINT) AS smallest,
    COUNT(CASE WHEN kinds < size THEN 1 END) AS repeating,
    CAST(COALESCE(SUM(CASE WHEN kinds < size THEN size END), 0) AS BIGINT) AS repeating_rows,
    MIN(kinds) AS fewest_values,
    CAST(COALESCE(SUM(without), 0) AS BIGINT) AS without_value
FROM classes
