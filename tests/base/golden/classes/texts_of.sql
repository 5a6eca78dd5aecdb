/* sqlaudit: texts_of */
SELECT DISTINCT value_text
FROM (
    SELECT "disease" AS value_text FROM "may"
    UNION ALL
    SELECT "disease" AS value_text FROM "june"
    
) AS texts
WHERE value_text IS NOT NULL
LIMIT 1000
