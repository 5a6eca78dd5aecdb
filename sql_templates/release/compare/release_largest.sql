{# The largest number of a column. #}
SELECT MAX({{ column }}) AS largest
FROM {{ source }}
