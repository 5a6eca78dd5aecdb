/* sqlaudit: release_side */
WITH target AS (
    SELECT
        CAST("q" AS TEXT) AS g1,
        1 AS here
    FROM patients
)
SELECT
    CAST(NULL AS INTEGER) AS in_original,
    here AS in_release,
    g1,
    here AS n
FROM target
