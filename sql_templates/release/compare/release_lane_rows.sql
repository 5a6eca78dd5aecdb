{# The sensitive values by lane. #}
SELECT v, t, total
FROM {{ lanes }} AS lanes
ORDER BY lane
LIMIT {{ limit }}
