{# All figures of all models, by class size: few rows, one a distinct size. `levels` are (name, fold, expression),
   `verdicts` are (name, predicate of failing classes, predicate of classes too close to the limit to tell). #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    size,
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
{% for name, fold, expression in levels %}
    , {{ fold }}({{ expression }}) AS {{ name }}
{% endfor %}
{% for name, failing, doubtful in verdicts %}
    , CAST(COALESCE(SUM(CASE WHEN {{ failing }} THEN classes ELSE 0 END), 0) AS BIGINT) AS {{ name }}_classes
    , CAST(COALESCE(SUM(CASE WHEN {{ failing }} THEN table_rows ELSE 0 END), 0) AS BIGINT) AS {{ name }}_rows
    {% if doubtful %}
    , CAST(COALESCE(SUM(CASE WHEN {{ doubtful }} THEN classes ELSE 0 END), 0) AS BIGINT) AS {{ name }}_doubtful
    {% endif %}
{% endfor %}
FROM facts
GROUP BY size
ORDER BY size
