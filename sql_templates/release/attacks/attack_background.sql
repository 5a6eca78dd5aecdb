{# What is left after ruling out m = 0, 1, … values of a class: how many members are then certain, how many nearly so,
   and the highest probability, of all and of those who are not certain yet. `heads` names the sum of the m + 1 largest
   counts for each m: the best that m values can do for somebody with the most frequent value is to leave n minus the
   next m counts. Nearly sure are the members whose own value is the best guess once the best m others are ruled out, and
   likely enough then: those with one of the m + 1 most frequent values. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }},
left_over AS NOT MATERIALIZED (
    SELECT
        classes, size, distinct_values, largest
    {% for head in heads %}
        , n - ({{ head }} - largest) AS left_{{ loop.index0 }}
        , n - {{ head }} AS others_{{ loop.index0 }}
        , {{ head }}{{ " - " ~ heads[loop.index0 - 1] if loop.index0 }} AS count_{{ loop.index0 }}
    {% endfor %}
    FROM facts
)
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members
{% for head in heads %}
    {% set nth = loop.index0 %}
    , CAST(COALESCE(SUM(CASE WHEN distinct_values <= {{ loop.index }} THEN size * classes ELSE 0 END), 0) AS BIGINT) AS certain_{{ loop.index0 }}
    , CAST(COALESCE(SUM(LEAST(size, 0{% for rank in range(loop.index) %} + CASE WHEN CAST(count_{{ rank }} AS {{ wide }}) * {{ sure.denominator }} >= CAST(count_{{ rank }} + others_{{ nth }} AS {{ wide }}) * {{ sure.numerator }} THEN count_{{ rank }} ELSE 0 END{% endfor %}) * classes), 0) AS BIGINT) AS nearly_{{ loop.index0 }}
    , MAX(CAST(largest AS DOUBLE) / left_{{ loop.index0 }}) AS highest_{{ loop.index0 }}
    , MAX(CASE WHEN distinct_values > {{ loop.index }} THEN CAST(largest AS DOUBLE) / left_{{ loop.index0 }} END) AS rest_{{ loop.index0 }}
{% endfor %}
FROM left_over
