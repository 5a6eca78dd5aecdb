/* sqlaudit: columns_rows */
SELECT
    "a" AS c0

FROM patients
