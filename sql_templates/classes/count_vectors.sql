{# The classes that satisfy a condition as full count vectors, merged: for the few that are decided exactly. #}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH {{ relation.facts_relation(classes, totals, facts, form, lane_columns if form == "packed" else "cell_list") }}
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
    SELECT
        MAX(classes) AS classes,
        MAX(table_rows) AS table_rows,
        STRING_AGG(CAST(cell >> 40 AS TEXT) || ':' || CAST(cell & {{ 2 ** 40 - 1 }} AS TEXT), ',' ORDER BY cell) AS vector
    FROM (SELECT id, classes, table_rows, UNNEST(cell_list) AS cell FROM facts WHERE {{ condition }}) AS unfolded
    GROUP BY id
) AS written
GROUP BY vector
LIMIT {{ limit }}
{% endif %}
