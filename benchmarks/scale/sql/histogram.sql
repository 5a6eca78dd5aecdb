{# The histogram of one part of a table: one row a cell, the class, the value, and how many rows have both. #}
SELECT {{ columns | join(", ") }}, s, COUNT(*) AS c
FROM {{ source }}
GROUP BY {{ columns | join(", ") }}, s
