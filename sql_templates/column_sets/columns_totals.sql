{# Rows, persons, and rows without a person. #}
SELECT
    COUNT(*) AS total,
    {{ "COUNT(DISTINCT " ~ entity ~ ")" if entity is not none else "COUNT(*)" }} AS persons,
    {{ "COUNT(*) - COUNT(" ~ entity ~ ")" if entity is not none else "0" }} AS nameless
FROM {{ source }}
