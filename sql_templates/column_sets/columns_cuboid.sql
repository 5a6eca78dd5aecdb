{# The classes of a wide column set with their sizes: smaller sets are counted from these instead of from all rows. #}
SELECT {{ names | join(", ") }}, COUNT(*) AS weight
FROM {{ source }}
GROUP BY {{ names | join(", ") }}
