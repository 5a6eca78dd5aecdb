/* sqlaudit: attack_texts */
SELECT value
FROM (SELECT DISTINCT COALESCE('=' || CAST("age" AS VARCHAR), '') AS value FROM patients) AS seen
LIMIT 200001
