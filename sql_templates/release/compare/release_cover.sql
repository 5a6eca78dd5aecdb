{# Which values of the original each cell stands for. A cell that stands for none of them counts as one that may be
   anything, marked by `fits`; `is_exact` marks a cell that is a single value in another spelling. #}
WITH cover AS (
    SELECT code AS cell, number AS word
    FROM {{ readings }}
    WHERE reading = 'value' AND number IS NOT NULL
    UNION
    SELECT readings.code, words.id
    FROM {{ readings }} AS readings
    CROSS JOIN {{ values }} AS words
    WHERE readings.reading = 'all'
    {% for level in levels %}
    UNION
    SELECT readings.code, words.id
    FROM {{ readings }} AS readings
    JOIN {{ values }} AS words ON readings.t = words.l{{ level }}
    WHERE readings.reading = 'label' AND readings.level = {{ level }}
    {% endfor %}
    {% if members %}
    UNION
    SELECT members.code, members.id
    FROM {{ members }} AS members
    {% endif %}
)
SELECT cell, CAST(word AS INTEGER) AS word, TRUE AS fits, {{ "cell IN (SELECT code FROM " ~ exact ~ ")" if exact else "FALSE" }} AS is_exact
FROM cover
UNION ALL
SELECT readings.code, CAST(words.id AS INTEGER), FALSE, FALSE
FROM {{ readings }} AS readings
CROSS JOIN {{ values }} AS words
WHERE readings.code NOT IN (SELECT cell FROM cover)
