{# For a workbench beside the database: every combination of values that occurs, as numbers of values, and its rows. The
   numbers are given inside the database, as dictionaries and totals number them: values in their order, NULL last.
   `kept` has the combinations where the database could keep them. #}
{% import "hierarchies/_hierarchy.sql" as dictionary with context %}
WITH cells AS MATERIALIZED (
{% if kept is not none %}
    SELECT * FROM {{ kept }}
{% else %}
    {% include "lattices/lattice_counted.sql" %}

{% endif %}
)
{% for column in columns %}
, numbered_{{ loop.index0 }} AS MATERIALIZED (
    SELECT v, ROW_NUMBER() OVER (ORDER BY {% if column.kind %}{{ dictionary.order_of("v", column.kind) }}{% else %}v{{ ' COLLATE "C"' if column.collated and dialect == "postgres" }}{% endif %} NULLS LAST) - 1 AS number
    FROM (SELECT q{{ loop.index0 }} AS v FROM cells GROUP BY q{{ loop.index0 }}) AS seen
)
{% endfor %}
SELECT
{% for column in columns %}
    COALESCE(numbered_{{ loop.index0 }}.number, (SELECT MAX(number) FROM numbered_{{ loop.index0 }})) AS i{{ loop.index0 }},
{% endfor %}
    c
FROM cells
{% for column in columns %}
LEFT JOIN numbered_{{ loop.index0 }} ON cells.q{{ loop.index0 }} = numbered_{{ loop.index0 }}.v
{% endfor %}
