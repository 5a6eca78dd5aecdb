/* sqlaudit: lattice_failing_classes */
SELECT
    0 AS id,
    CAST(q1 AS BIGINT) AS k0,
    CAST(table_rows AS BIGINT) AS n
FROM (
    SELECT failing_1.* FROM failing AS failing_1

) AS failing
