{# The values of one column, numbered in their order, with their rows, keys and computed labels. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
WITH target AS (
    SELECT {{ value }} AS v
    FROM {{ source }}
),
counted AS (
    SELECT v, COUNT(*) AS row_count
    FROM target
    GROUP BY v
)
SELECT
    ROW_NUMBER() OVER (ORDER BY {{ parts.order_of("v", kind) }} NULLS LAST) - 1 AS id,
{% if with_value %}
    v,
{% endif %}
    {{ parts.key("v", kind) }} AS key,
    row_count
{% for level, label in labels %}
    , {{ label }} AS l{{ level }}
{% endfor %}
FROM counted
