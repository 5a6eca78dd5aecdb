{# The distinct signatures of the classes of every node (rows, largest counts) and how many classes share each. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.known(grouped, ids, block) }}
SELECT
    id,
    n,
    {% for rank in range(1, depth + 1) %}
    top_counts[{{ rank }}] AS r{{ rank }},
    {% endfor %}
    COUNT(*) AS classes
FROM known_{{ block.position }}
GROUP BY ALL
ORDER BY id
