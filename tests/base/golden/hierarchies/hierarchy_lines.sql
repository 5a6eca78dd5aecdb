/* sqlaudit: hierarchy_lines */
WITH words AS (
    SELECT
        id,
        COALESCE(key, '') AS key,
        CASE WHEN key IS NULL THEN 1 ELSE 0 END AS is_null
        , l1
        , l2
        , l3
    FROM patients
    WHERE key IS NOT NULL OR l1 IS NOT NULL
),
lines AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY is_null DESC) AS spelled
    FROM words
)
SELECT
    key
    , l1
    , l2
    , l3
FROM lines
WHERE spelled = 1
ORDER BY id
