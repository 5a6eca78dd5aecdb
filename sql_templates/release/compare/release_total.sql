{# How many rows counted rows stand for. #}
SELECT SUM(n) AS total
FROM {{ source }}
