{# The persons whom the fewest events single out, or expose. #}
SELECT person, events, exposed, singled_out
FROM {{ state }}
WHERE exposed IS NOT NULL
ORDER BY singled_out NULLS LAST, exposed, events, person
LIMIT {{ top }}
