{# The counts of values in the classes that further rows get into, before and after: a row a value of such a class. #}
{% macro lettered(columns, said=false) -%}
{% for column in columns %}{{ column ~ " AS " if said }}k{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
{%- endmacro %}
WITH given AS (
{% for source in sources %}
    SELECT {{ lettered(source.columns, true) }}, {{ source.value }} AS v, {{ 1 if loop.last else 0 }} AS come
    FROM {{ source.rows }} AS listed
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
),
cells AS (
    SELECT {{ lettered(keys) }}, v, COUNT(*) AS n, SUM(come) AS come
    FROM given
    GROUP BY {{ lettered(keys) }}, v
),
numbered AS (
    SELECT
        {{ lettered(keys) }},
        n,
        come,
        SUM(come) OVER (PARTITION BY {{ lettered(keys) }}) AS come_to_class
    FROM cells
)
SELECT DENSE_RANK() OVER (ORDER BY {{ lettered(keys) }}) AS class, n - come AS n_before, n AS n_after
FROM numbered
WHERE come_to_class > 0
ORDER BY class
LIMIT {{ limit }}
