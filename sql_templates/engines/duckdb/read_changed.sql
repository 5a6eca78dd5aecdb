-- which columns of a text file have a value that the column's type would change
{% from 'engines/duckdb/_exact.sql' import changed %}
SELECT
{% for text, type in columns %}
    coalesce(bool_or({{ changed(text, type) }}), FALSE){{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
