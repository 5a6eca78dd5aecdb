{# Which values of a dictionary lie in which cells: one row a pair. A number or moment is read from the value's key. #}
WITH words AS (
    SELECT
        id, key
    {% if type %}
        , TRY_CAST(key AS {{ type }}) AS point
    {% endif %}
    {% for level in levels %}
        , l{{ level }}
    {% endfor %}
    FROM {{ dictionary }}
)
SELECT cell.code, words.id
FROM {{ cells }} AS cell
CROSS JOIN words
WHERE cell.form = 'any'
UNION ALL
SELECT cell.code, words.id
FROM {{ cells }} AS cell
JOIN words ON words.key IS NULL
WHERE cell.form = 'null'
UNION ALL
SELECT cell.code, words.id
FROM {{ cells }} AS cell
JOIN words ON words.key = {{ "CAST(TRY_CAST(cell.text AS DOUBLE) AS VARCHAR)" if float else "cell.text" }}
WHERE cell.form = 'value'
UNION ALL
SELECT cell.code, words.id
FROM {{ cells }} AS cell
JOIN words ON LENGTH(words.key) = LENGTH(cell.text) AND words.key LIKE cell.pattern ESCAPE '!'
WHERE cell.form = 'mask'
UNION ALL
SELECT cell.code, words.id
FROM {{ cells }} AS cell
JOIN words ON LENGTH(words.key) > LENGTH(cell.text) AND REGEXP_MATCHES(words.key, '^[0-9]{4}-[0-9]{2}-[0-9]{2}') AND SUBSTRING(words.key, 1, LENGTH(cell.text)) LIKE cell.pattern ESCAPE '!'
WHERE cell.form = 'dates'
{% for level in levels %}
UNION ALL
SELECT cell.code, words.id
FROM {{ cells }} AS cell
JOIN words ON words.l{{ level }} = cell.text
WHERE cell.form = 'node' AND cell.level = {{ level }}
{% endfor %}
{% if type %}
UNION ALL
SELECT cell.code, words.id
FROM (SELECT *, CAST(low AS {{ type }}) AS first, CAST(high AS {{ type }}) AS last FROM {{ cells }} WHERE form = 'interval') AS cell
JOIN words ON words.point >= cell.first AND words.point <= cell.last
WHERE NOT (cell.low_open AND words.point = cell.first) AND NOT (cell.high_open AND words.point = cell.last)
    {{ "AND NOT ISNAN(words.point)" if float }}
{% endif %}
