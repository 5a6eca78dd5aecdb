{# The classes that any of the predicates names: the words of their keys, if asked for, and their rows. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, key_names | join(", ") or none) }}
SELECT {% for name in key_names %}{{ name }}, {% endfor %}table_rows
FROM facts
WHERE {{ condition }}
