/* sqlaudit: release_cover */
WITH cover AS (
    SELECT code AS cell, number AS word
    FROM patients
    WHERE reading = 'value' AND number IS NOT NULL
    UNION
    SELECT readings.code, words.id
    FROM patients AS readings
    CROSS JOIN patients AS words
    WHERE readings.reading = 'all'
    UNION
    SELECT readings.code, words.id
    FROM patients AS readings
    JOIN patients AS words ON readings.t = words.l1
    WHERE readings.reading = 'label' AND readings.level = 1
)
SELECT cell, CAST(word AS INTEGER) AS word, TRUE AS fits, FALSE AS is_exact
FROM cover
UNION ALL
SELECT readings.code, CAST(words.id AS INTEGER), FALSE, FALSE
FROM patients AS readings
CROSS JOIN patients AS words
WHERE readings.code NOT IN (SELECT cell FROM cover)
