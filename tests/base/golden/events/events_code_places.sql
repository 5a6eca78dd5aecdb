/* sqlaudit: events_code_places */
SELECT code, place
FROM (
    SELECT code, ROW_NUMBER() OVER (ORDER BY code) AS place
    FROM (SELECT DISTINCT c0 AS code FROM patients WHERE c0 <> 0) AS codes
) AS placed
WHERE code IN (1, 2)
