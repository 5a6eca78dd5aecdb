{# The sensitive values that are kept, by rank. #}
SELECT lane, s, total, null_rows, rows_without_entity
FROM {{ kept_lanes }} AS kept
ORDER BY lane
