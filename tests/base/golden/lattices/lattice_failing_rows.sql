/* sqlaudit: lattice_failing_rows */
SELECT CAST(COALESCE(SUM(table_rows), 0) AS BIGINT) AS failing_rows
FROM (
    SELECT failing_1.* FROM patients AS failing_1

) AS failing
