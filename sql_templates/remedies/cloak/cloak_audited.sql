{# The published messages with their users, for the audit. #}
SELECT person, x_min, x_max, y_min, y_max, t_min, t_max
FROM {{ messages }}
WHERE outcome = 0
