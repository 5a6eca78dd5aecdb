/* sqlaudit: release_pairs */
WITH original AS (
    SELECT
        1 AS here,
        ROW_NUMBER() OVER () AS k1,
        "a" AS v1,
        0 AS nothing
    FROM patients
),
released AS (
    SELECT
        1 AS here,
        ROW_NUMBER() OVER () AS k1,
        CAST("a" AS TEXT) AS g1,
        0 AS nothing
    FROM patients
)
SELECT
    original.here AS in_original,
    released.here AS in_release,
    v1, g1,
    1 AS n
FROM original
FULL JOIN released ON original.k1 = released.k1
