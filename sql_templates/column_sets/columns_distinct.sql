{# Every different row of codes once. Where a missing value equals nothing, rows that are alike but for that stay two. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
SELECT {{ names | join(", ") }}
FROM {{ source }}
GROUP BY {{ names | join(", ") }}
{% if solo_columns %}
UNION ALL
SELECT {{ names | join(", ") }}
FROM {{ source }}
WHERE {{ parts.solo(solo_columns, true) }}
GROUP BY {{ names | join(", ") }}
HAVING COUNT(*) > 1
{% endif %}
