/* sqlaudit: hierarchy_membership */
WITH words AS (
    SELECT
        id, key
        , TRY_CAST(key AS DECIMAL(38, 12)) AS point
    FROM patients
)
SELECT cell.code, words.id
FROM patients AS cell
CROSS JOIN words
WHERE cell.form = 'any'
UNION ALL
SELECT cell.code, words.id
FROM patients AS cell
JOIN words ON words.key IS NULL
WHERE cell.form = 'null'
UNION ALL
SELECT cell.code, words.id
FROM patients AS cell
JOIN words ON words.key = cell.text
WHERE cell.form = 'value'
UNION ALL
SELECT cell.code, words.id
FROM patients AS cell
JOIN words ON LENGTH(words.key) = LENGTH(cell.text) AND words.key LIKE cell.pattern ESCAPE '!'
WHERE cell.form = 'mask'
UNION ALL
SELECT cell.code, words.id
FROM patients AS cell
JOIN words ON LENGTH(words.key) > LENGTH(cell.text) AND REGEXP_MATCHES(words.key, '^[0-9]{4}-[0-9]{2}-[0-9]{2}') AND SUBSTRING(words.key, 1, LENGTH(cell.text)) LIKE cell.pattern ESCAPE '!'
WHERE cell.form = 'dates'
UNION ALL
SELECT cell.code, words.id
FROM (SELECT *, CAST(low AS DECIMAL(38, 12)) AS first, CAST(high AS DECIMAL(38, 12)) AS last FROM patients WHERE form = 'interval') AS cell
JOIN words ON words.point >= cell.first AND words.point <= cell.last
WHERE NOT (cell.low_open AND words.point = cell.first) AND NOT (cell.high_open AND words.point = cell.last)
