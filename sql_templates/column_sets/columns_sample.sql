{# Rows drawn at random, each with the same chance and on its own, as codes: equal values of a column have equal codes,
   NULL is 0. Rows are numbered as the database reads them; whether one is drawn depends on its number and the seed
   alone, so that the numbers may come in any order. #}
{% import "base/_numbers.sql" as numbers with context %}
{% set names = [] %}
{% for _ in columns %}{% set _ = names.append("c" ~ loop.index0) %}{% endfor %}
WITH numbered AS (
    SELECT
    {% for column in columns %}
        {{ column }} AS c{{ loop.index0 }},
    {% endfor %}
        {{ "MONOTONICALLY_INCREASING_ID()" if dialect == "spark" else "ROW_NUMBER() OVER ()" }} AS number
    FROM {{ source }}
),
drawn AS (
    SELECT *
    FROM numbered
    {% if below is not none %}
    WHERE MD5('{{ seed }}:' || CAST(number AS VARCHAR)) < '{{ below }}'
    {% endif %}
)
{%- if dialect == "spark" and columns %},
{{ numbers.dictionaries(names, "drawn", true) }}
{{ numbers.codes(names, "drawn") }}
{% else %}

SELECT
{% for column in columns %}
    CAST(CASE WHEN c{{ loop.index0 }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY c{{ loop.index0 }}) END AS INTEGER) AS c{{ loop.index0 }}{{ "," if not loop.last }}
{% endfor %}
FROM drawn
{% endif %}
