/* sqlaudit: remedy_rows */
SELECT
    "x"
FROM patients AS released
ORDER BY
    CAST("x" AS VARCHAR) NULLS LAST
