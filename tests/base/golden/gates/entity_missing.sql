/* sqlaudit: entity_missing */
SELECT COUNT(*) AS missing
FROM (SELECT DISTINCT person AS value FROM patients) AS theirs
LEFT JOIN (SELECT id AS value FROM people) AS keys ON keys.value = theirs.value
WHERE keys.value IS NULL
