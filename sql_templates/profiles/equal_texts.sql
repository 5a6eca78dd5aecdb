{# How many values of each column are written in several ways, among the first rows or all of them: texts that are equal to the database,
   numbers of a text file by their texts there (`type`), and texts that mean one number or day (`meant`). #}
{% macro meaning(text) %}
CASE
    WHEN REGEXP_MATCHES({{ text }}, '^[+-]?[0-9]{1,15}([.,][0-9]{1,10})?$') THEN CAST(CAST(REPLACE({{ text }}, ',', '.') AS DECIMAL(38, 10)) AS VARCHAR)
    WHEN REGEXP_MATCHES({{ text }}, '^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$') THEN REPLACE({{ text }}, '-0', '-')
    ELSE {{ text }}
END
{%- endmacro %}
WITH
{% for column in columns %}
target_{{ loop.index0 }} AS (SELECT {{ column.sql }} AS c FROM {{ column.source }}{{ " LIMIT " ~ first if first }}){{ "," if not loop.last }}
{% endfor %}
{% for column in columns %}
{% set value = "TRY_CAST(c AS " ~ column.type ~ ")" if column.type else meaning("c") if column.meant else "c" %}
SELECT {{ loop.index0 }} AS column_number, COUNT(*) AS values_with_several_texts
FROM (
    SELECT 1 AS one
    FROM target_{{ loop.index0 }}
    WHERE c IS NOT NULL
    GROUP BY {{ value }}
    HAVING COUNT(DISTINCT CAST(c AS VARCHAR)) > 1
) AS value_groups
{{ "UNION ALL" if not loop.last }}
{% endfor %}
