{# The class of one person who is named by the entity or by quasi-identifiers: its key, and how often each value occurs.
   `named` holds (column, whether it holds numbers, parameter) for what names the person. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
{{ parts.lanes(entity, text) }},
person AS MATERIALIZED (
    SELECT DISTINCT {{ key }}
    FROM target
    WHERE
    {%- for column, is_number, parameter in named %} {{ column if is_number else "CAST(" ~ column ~ " AS VARCHAR)" }} IS NOT DISTINCT FROM {{ parameter }}{{ " AND" if not loop.last }}{% endfor %}

)
SELECT
    {% for column in key.split(", ") %}person.{{ column }}, {% endfor %}

    COALESCE(lanes.lane, {{ null_lane }}) AS lane,
    {{ "COUNT(DISTINCT target.e)" if entity is not none else "COUNT(*)" }} AS c
FROM target
JOIN person ON {% for column in key.split(", ") %}target.{{ column }} IS NOT DISTINCT FROM person.{{ column }}{{ " AND " if not loop.last }}{% endfor %}

LEFT JOIN lanes ON target.s = lanes.s
GROUP BY {% for column in key.split(", ") %}person.{{ column }}, {% endfor %}lanes.lane
