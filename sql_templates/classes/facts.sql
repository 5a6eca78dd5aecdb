{# The facts of the classes, to be kept for the statements that read them. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT *
FROM facts
