{# The people of the population: the sum of the weights, with six decimals. #}
SELECT SUM(CAST({{ weight }} AS DECIMAL(18, 6))) AS people
FROM {{ source }}
