{# How many people a table has. #}
SELECT COUNT(DISTINCT {{ entity }}) AS people
FROM {{ source }}
