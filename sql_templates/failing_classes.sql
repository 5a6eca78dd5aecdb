{# The classes that satisfy a condition, smallest first; their keys only when `keep` names them. #}
{% import "_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, cells, form, keep or none) }}
SELECT
    {% for column in key_names %}{{ column }}, {% endfor %}

    size, classes, table_rows
    {% for name in names %}, {{ name }}{% endfor %}
    {% for name, predicate in predicates %}, CASE WHEN {{ predicate }} THEN 1 ELSE 0 END AS {{ name }}{% endfor %}

    , CAST(SUM(classes) OVER () AS BIGINT) AS failing_total
FROM facts
WHERE {{ condition }}
ORDER BY size, n
    {%- for column, text in zip(key_names, collated) %}, {{ column }}{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST{% endfor %}
    {%- for name in names %}, {{ name }}{% endfor %}, table_rows

{% if limit is not none %}
LIMIT {{ limit }}
{% endif %}
