{# Tuples whose beginning is empty yet. #}
SELECT DISTINCT {{ id }} AS id, {{ names | join(", ") }}, CAST(0 AS BIGINT) AS p, CAST(0 AS BIGINT) AS next
FROM {{ source }}
{% if condition %}
WHERE {{ condition }}
{% endif %}
