{# The first values with their labels, for people who asked to see them. #}
SELECT
    key
{% for level in range(1, height + 1) %}
    , l{{ level }}
{% endfor %}
FROM {{ source }}
ORDER BY id
LIMIT {{ most }}
