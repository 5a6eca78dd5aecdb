{# How many times as likely a value is in a class as in the whole table, at most; and how many members have a value that
   is more than some numbers of times as likely (facts `above_…`, exact). #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    CAST(COALESCE(SUM(n * classes), 0) AS BIGINT) AS members,
    MAX(largest_lift * {{ total }} / n) AS highest
{% for name in above %}
    , CAST(COALESCE(SUM({{ name }} * classes), 0) AS BIGINT) AS {{ name }}
{% endfor %}
FROM facts
