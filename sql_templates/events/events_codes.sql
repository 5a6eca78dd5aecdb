{# The columns of the target and its persons as small whole numbers, 0 = missing, for a workbench elsewhere. #}
{% import "base/_numbers.sql" as numbers with context %}
{% if dialect == "spark" %}
{% set names = [] %}
{% for _ in columns %}{% set _ = names.append("c" ~ loop.index0) %}{% endfor %}
{% set _ = names.append("e") %}
WITH target AS (
    SELECT {% for column in columns %}{{ column }} AS c{{ loop.index0 }}, {% endfor %}{{ entity }} AS e
    FROM {{ source }}
),
{{ numbers.dictionaries(names, "target", true) }}
{{ numbers.codes(names, "target") }}
{% else %}
SELECT
{% for column in columns %}
    CASE WHEN {{ column }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY {{ column }}) END AS c{{ loop.index0 }},
{% endfor %}
    CASE WHEN {{ entity }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY {{ entity }}) END AS e
FROM {{ source }}
{% endif %}
