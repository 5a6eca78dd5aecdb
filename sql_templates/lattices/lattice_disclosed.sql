{# For every node the fewest different sensitive values of a class, or how many classes reach a limit by negated atoms
   alone: either can settle that a node is unsafe before any signature is read. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.known(grouped, ids, block) }}
SELECT
    id,
    {{ "COUNT(CASE WHEN " ~ reached ~ " THEN 1 END)" if reached else "MIN(distinct_values)" }} AS found
FROM known_{{ block.position }}
GROUP BY id
