/* sqlaudit: lattice_codes */
SELECT
    id,
    CASE
        WHEN NOT key IS NULL THEN 0
        ELSE 1
    END AS z,
    CAST((CAST(x0 AS BIGINT) << 4) AS BIGINT) AS k0
FROM patients AS places
