{# The lines of a hierarchy file. NULL and the empty text are both an empty field, so only one of them has a line. #}
WITH words AS (
    SELECT
        id,
        COALESCE(key, '') AS key,
        CASE WHEN key IS NULL THEN 1 ELSE 0 END AS is_null
    {% for level in range(1, height + 1) %}
        , l{{ level }}
    {% endfor %}
    FROM {{ source }}
    {% if height > 1 %}
    WHERE key IS NOT NULL OR l1 IS NOT NULL
    {% else %}
    WHERE key IS NOT NULL
    {% endif %}
),
lines AS (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY is_null DESC) AS spelled
    FROM words
)
SELECT
    key
{% for level in range(1, height + 1) %}
    , l{{ level }}
{% endfor %}
FROM lines
WHERE spelled = 1
ORDER BY id
