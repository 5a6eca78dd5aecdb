{# The bare GROUP BY: nothing but counting. #}
SELECT COUNT(*) AS groups, MAX(n) AS largest
FROM (
    SELECT {{ columns | join(", ") }}, COUNT(*) AS n
    FROM {{ source }}
    GROUP BY {{ columns | join(", ") }}
) AS counted
