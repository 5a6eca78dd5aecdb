{# The keys that two rows of codes or more share on a column set, packed, with how many do. Where a missing value equals
   nothing (`nullable`), a row with one shares none. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
SELECT
{% for key in set.packed %}
    {{ parts.packed(key) }} AS k{{ loop.index0 }},
{% endfor %}
    COUNT(*) AS members
FROM {{ source }}
{% if set.nullable %}
WHERE NOT ({{ parts.solo(set.nullable, true) }})
{% endif %}
GROUP BY {{ parts.keys(set) }}
HAVING COUNT(*) > 1
