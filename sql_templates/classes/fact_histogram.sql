{# How many classes and rows have each combination of facts. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    {% for name in names %}{{ name }}, {% endfor %}

    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
{% if condition %}
WHERE {{ condition }}
{% endif %}
GROUP BY {{ names | join(", ") }}
{% if limit is not none %}
LIMIT {{ limit }}
{% endif %}
