{# A column's values in the table and in the population. #}
SELECT {{ value }} AS v FROM {{ source }}
UNION ALL
SELECT {{ other }} AS v FROM {{ population }}
