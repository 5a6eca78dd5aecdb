{# What an expression gives; described, never run. #}
SELECT {{ value }} AS v
FROM {{ source }}
