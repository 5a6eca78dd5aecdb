/* sqlaudit: recode_points */
SELECT CAST(v AS DOUBLE) AS point
FROM patients AS dictionary
ORDER BY id
