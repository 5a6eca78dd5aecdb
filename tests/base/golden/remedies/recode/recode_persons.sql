/* sqlaudit: recode_persons */
SELECT COUNT(*) AS row_total, COUNT(DISTINCT None) AS persons
FROM patients AS target
