-- in which columns of texts a date or time is not written as the database writes it; or how many texts are one value, `counted`
{% from 'engines/duckdb/_times.sql' import value, written_otherwise %}
SELECT
{% for text, type, format in columns %}
{% if counted %}
    count(DISTINCT {{ text }}) FILTER ({{ value(text, type, format) }} IS NOT NULL) > count(DISTINCT {{ value(text, type, format) }}){{ '' if loop.last else ',' }}
{% else %}
    {{ written_otherwise(text, type, format) }}{{ '' if loop.last else ',' }}
{% endif %}
{% endfor %}
FROM {{ source }}
