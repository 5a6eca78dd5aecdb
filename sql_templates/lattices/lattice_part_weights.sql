{# For every node and column the weights of the cells of rows in failing classes, added up. `levels` says at which level
   each node has each column and with which bits of the key; `weights` are by these bits. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, key | join(", ")) }},
failing AS (
    SELECT id, n, {{ key | join(", ") }}
    FROM judged_{{ blocks[-1].position }}
    WHERE {{ parts.any_of(any) }}
)
SELECT failing.id, levels.position, SUM(failing.n * weights.weight) AS weight
FROM failing
JOIN {{ levels }} AS levels ON failing.id = levels.id
JOIN {{ weights }} AS weights
    ON levels.position = weights.position AND levels.level = weights.level
    {% for word in key %}
    AND failing.{{ word }} & levels.m{{ loop.index0 }} = weights.{{ word }}
    {% endfor %}
GROUP BY failing.id, levels.position
