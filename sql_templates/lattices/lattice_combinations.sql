{# The combinations of some facts that occur in the classes of some nodes. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH grouped AS NOT MATERIALIZED (
    SELECT *, n AS size FROM {{ grouped }} AS class
),
{{ parts.facts_of(block, "grouped") }}
SELECT DISTINCT {{ names | join(", ") }}
FROM known_{{ block.position }}
{% if condition %}
WHERE {{ condition }}
{% endif %}
LIMIT {{ limit }}
