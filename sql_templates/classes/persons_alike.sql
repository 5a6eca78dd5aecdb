{# The rows with one key for all rows of a person: which other persons have the same combinations of the
   quasi-identifiers. Combinations become numbers, persons lists of numbers, lists numbers. Up to three numbers are one
   without a list: the smallest, the largest, and what lies between or 0 (none has 40 bits; lists are below 0). Missing
   values are equal to each other here; with `solo` a row with one is a combination of its own. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, solo) %}
{% macro up_to_three(least, middle, most) -%}
(CAST({{ least }} AS HUGEINT) << 80) + (CAST({{ most }} AS HUGEINT) << 40)
        + CASE WHEN {{ least }} < {{ middle }} AND {{ middle }} < {{ most }} THEN {{ middle }} ELSE 0 END
{%- endmacro %}
{% set looked_up = dialect == "duckdb" and not solo %}
WITH {{ parts.target(source, keys, sensitive, entity, solo) }},
{% if looked_up %}
{{ parts.numbered(key) }},
marks AS MATERIALIZED (
    SELECT
        e,
        MIN(combination) AS least,
        MAX(combination) AS most,
        CASE WHEN COUNT(*) = 3 THEN CAST(SUM(combination) AS BIGINT) - MIN(combination) - MAX(combination) END AS middle,
        COUNT(*) <= 3 OR MIN(combination) = MAX(combination) AS few
    FROM numbered_rows
    GROUP BY e
),
numbered AS (
    SELECT DISTINCT e, combination
    FROM numbered_rows
    SEMI JOIN (SELECT e FROM marks WHERE NOT few) AS many USING (e)
),
{% else %}
numbered AS (
    SELECT e, DENSE_RANK() OVER (ORDER BY {{ key }}) AS combination
    FROM (SELECT DISTINCT {{ key }}, e FROM target) AS combinations
),
{% endif %}
lists AS {{ "MATERIALIZED " if looked_up }}(
    SELECT e, {{ "SORT_ARRAY(COLLECT_LIST(combination))" if dialect == "spark" else "LIST(combination ORDER BY combination)" }} AS known
    FROM numbered
    GROUP BY e
),
alike AS (
    {% if looked_up %}
    SELECT e, {{ up_to_three("least", "middle", "most") }} AS known
    FROM marks
    WHERE few
    UNION ALL
    SELECT e, {{ up_to_three("known[1]", "known[2]", "known[-1]") }}
    FROM lists
    WHERE LEN(known) <= 3
    UNION ALL
    {% endif %}
    SELECT e, -DENSE_RANK() OVER (ORDER BY known) AS known
    FROM lists
    {{ "WHERE LEN(known) > 3" if looked_up }}
)
SELECT alike.known, target.e, target.s
FROM target
JOIN alike ON target.e = alike.e
