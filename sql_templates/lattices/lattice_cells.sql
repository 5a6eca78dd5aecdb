{# For a workbench beside the database: every combination of values that occurs, as numbers of values, and its rows. The
   numbers are given inside the database, as dictionaries and totals number them: values in their order, NULL last. What
   is `nullable` stays NULL.
   `kept` has the combinations where the database could keep them. #}
{% import "hierarchies/_hierarchy.sql" as dictionary with context %}
{% import "base/_numbers.sql" as numbers with context %}
WITH cells AS MATERIALIZED (
{% if kept is not none %}
    SELECT * FROM {{ kept }}
{% else %}
    {% include "lattices/lattice_counted.sql" %}

{% endif %}
)
{% for column in columns %}
{% if column.many %}
, {{ numbers.dictionary("people_" ~ loop.index0, "SELECT DISTINCT q" ~ loop.index0 ~ " AS value FROM cells WHERE q" ~ loop.index0 ~ " IS NOT NULL", true) }}
, numbered_{{ loop.index0 }} AS (SELECT value AS v, code AS number FROM people_{{ loop.index0 }})
{% else %}
, numbered_{{ loop.index0 }} AS MATERIALIZED (
    SELECT v, ROW_NUMBER() OVER (ORDER BY {% if column.kind %}{{ dictionary.order_of("v", column.kind) }}{% else %}v{{ ' COLLATE "C"' if column.collated and dialect == "postgres" }}{% endif %} NULLS LAST) - 1 AS number
    FROM (SELECT q{{ loop.index0 }} AS v FROM cells GROUP BY q{{ loop.index0 }}) AS seen
)
{% endif %}
{% endfor %}
SELECT
{% for column in columns %}
    {{ "numbered_" ~ loop.index0 ~ ".number" if column.nullable else "COALESCE(numbered_" ~ loop.index0 ~ ".number, (SELECT MAX(number) FROM numbered_" ~ loop.index0 ~ "))" }} AS i{{ loop.index0 }},
{% endfor %}
    c
FROM cells
{% for column in columns %}
LEFT JOIN numbered_{{ loop.index0 }} ON cells.q{{ loop.index0 }} = numbered_{{ loop.index0 }}.v
{% endfor %}
