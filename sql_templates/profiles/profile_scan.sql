{# One scan over all columns: rows, rows with a value, where the engine can tell it cheaply an estimate of the number of
   different values, and the average length of texts. #}
SELECT
    COUNT(*) AS row_count
{% for column in columns %}
    , COUNT({{ column.sql }}) AS filled_{{ loop.index0 }}
    , {% if dialect == "duckdb" %}APPROX_COUNT_DISTINCT({{ column.sql }}){% else %}NULL{% endif %} AS estimate_{{ loop.index0 }}
    , {% if column.text %}AVG(LENGTH(CAST({{ column.sql }} AS VARCHAR))){% else %}0{% endif %} AS characters_{{ loop.index0 }}
{% endfor %}
FROM {{ source }}
