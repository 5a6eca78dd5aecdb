{# The distinct signatures of the classes (rows, largest counts) and how many classes share each. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    n,
    {% for rank in range(1, depth + 1) %}
    COALESCE({{ facts[0].name }}[{{ rank }}], 0) AS r{{ rank }},
    {% endfor %}
    CAST(SUM(classes) AS BIGINT) AS classes
FROM facts
GROUP BY n, {{ facts[0].name }}
