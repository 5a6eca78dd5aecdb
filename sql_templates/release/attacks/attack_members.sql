{# How many classes and members (rows, or persons) have each combination of facts. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    {% for name in names %}{{ name }}, {% endfor %}

    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(size * classes) AS BIGINT) AS members
FROM facts
GROUP BY {{ names | join(", ") }}
LIMIT {{ limit }}
