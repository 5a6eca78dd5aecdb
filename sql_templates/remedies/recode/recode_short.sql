{# The groups of classes that fail any requirement, by their numbers. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, "g") }}
SELECT g
FROM judged_{{ blocks[-1].position }}
WHERE {{ parts.any_of(any) }}
