{# The numbers of the classes that fail a requirement. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, "q1") }}
SELECT q1 AS class_number
FROM facts
WHERE {{ condition }}
