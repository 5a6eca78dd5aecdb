{# The fewest persons who have the same static values. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
SELECT MIN(persons) AS smallest
FROM (
    SELECT COUNT(DISTINCT e) AS persons
    FROM {{ source }}
    GROUP BY {% for key in packed %}{{ parts.packed(key) }}{{ ", " if not loop.last }}{% endfor %}

) AS classes
