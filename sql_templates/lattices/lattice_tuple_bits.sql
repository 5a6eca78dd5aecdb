{# The rows of the finest classes times log2 of these, added up. #}
SELECT COALESCE(SUM(n * LOG2(n)), 0) AS bits
FROM {{ base }} AS base
