{# Rows, and about how many classes: HyperLogLog over hashes of the quasi-identifiers. #}
SELECT COUNT(*) AS row_count, approx_count_distinct(hash(hash({{ columns | join(", ") }}, {{ seed }}))) AS classes
FROM {{ source }}
