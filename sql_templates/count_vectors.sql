{# The classes that satisfy a condition as full count vectors, merged: for the few that are decided exactly. #}
{% import "_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, cells, form, lane_columns or none) }}
{% if form == "packed" %}
SELECT
    {% for lane in range(lane_count) %}c{{ lane }}, {% endfor %}

    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM facts
WHERE {{ condition }}
GROUP BY {{ lane_columns }}
LIMIT {{ limit }}
{% else %}
SELECT vector, CAST(SUM(classes) AS BIGINT) AS classes, CAST(SUM(table_rows) AS BIGINT) AS table_rows
FROM (
    SELECT MAX(facts.classes) AS classes, MAX(facts.table_rows) AS table_rows,
        STRING_AGG(CAST(long.lane AS TEXT) || ':' || CAST(long.c AS TEXT), ',' ORDER BY long.lane) AS vector
    FROM facts
    JOIN long ON facts.id = long.id
    WHERE {{ condition }}
    GROUP BY facts.id
) AS written
GROUP BY vector
LIMIT {{ limit }}
{% endif %}
