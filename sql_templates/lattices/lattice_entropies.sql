{# For every node exp(entropy) of the class in which it is least. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.known(grouped, ids, block) }}
SELECT
    id,
    MIN({{ level }}) AS least
FROM known_{{ block.position }}
GROUP BY id
