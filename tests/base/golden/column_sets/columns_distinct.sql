/* sqlaudit: columns_distinct */
SELECT c0
FROM patients
GROUP BY c0
