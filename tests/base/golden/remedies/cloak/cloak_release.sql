/* sqlaudit: cloak_release */
SELECT
    x_min AS x_min
FROM patients
WHERE outcome = 0
ORDER BY
    x_min
