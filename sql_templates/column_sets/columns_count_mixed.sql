{# For each of several column sets: how many of its classes hold two different persons whose rows differ somewhere else,
   so that the set does not tell persons apart that all columns together do. A class has such a pair exactly when it has
   more than one person and more than one different row. Rows are told apart by their rank; on Spark, where a rank would
   bring all of them into one task, by their values. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
WITH people AS (
    {% if columns is not none %}{{ parts.rows(columns, entity) }}{% else %}SELECT *{% endif %}

    FROM {{ source }}
),
numbered AS MATERIALIZED (
    SELECT
        people.*,
    {% if dialect == "spark" %}
        STRUCT({{ names | join(", ") }}{% if all_nullable %}, CASE WHEN {{ parts.solo(all_nullable, coded) }} THEN ROW_NUMBER() OVER () END{% endif %}) AS full_row
    {% elif all_nullable %}
        CASE WHEN {{ parts.solo(all_nullable, coded) }} THEN -ROW_NUMBER() OVER () ELSE DENSE_RANK() OVER (ORDER BY {{ names | join(", ") }}) END AS full_row
    {% else %}
        DENSE_RANK() OVER (ORDER BY {{ names | join(", ") }}) AS full_row
    {% endif %}
    FROM people
)
{% for set in sets %}
{{ "UNION ALL" if not loop.first }}
SELECT {{ set.number }} AS set_number, COUNT(*) AS mixed
FROM (
    SELECT COUNT(*) AS members
    FROM numbered
    {% if set.nullable %}
    WHERE NOT ({{ parts.solo(set.nullable, coded) }})
    {% endif %}
    {% if set.packed %}
    GROUP BY {{ parts.keys(set) }}
    {% endif %}
    HAVING COUNT(DISTINCT e) > 1 AND COUNT(DISTINCT full_row) > 1
) AS classes
{% endfor %}
