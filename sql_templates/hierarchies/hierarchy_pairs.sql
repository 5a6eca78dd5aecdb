{# Pairs of cell and value, for tests and examples. #}
SELECT code, id
FROM {{ source }}
