/* sqlaudit: copy_columns */
SELECT
    "zip" AS c1
FROM patients
