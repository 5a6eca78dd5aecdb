{# One scan over all columns: rows, rows with a value, and where the engine can tell it cheaply an estimate of the
   number of different values. #}
SELECT
    COUNT(*) AS row_count
{% for column in columns %}
    , COUNT({{ column }}) AS filled_{{ loop.index0 }}
    , {% if dialect == "duckdb" %}APPROX_COUNT_DISTINCT({{ column }}){% else %}NULL{% endif %} AS estimate_{{ loop.index0 }}
{% endfor %}
FROM {{ source }}
