{# For every node and column the bits that the cells of rows in failing classes leave open about their values, and that
   the column leaves open where nothing is told. The values are those of the finest classes that fall into them. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, key | join(", ")) }},
{{ parts.failing_keys(blocks, any, key | join(", ")) }},
finest AS MATERIALIZED (
    {{ parts.finest_in_nodes(base, nodes, key) }}
),
inside AS MATERIALIZED (
    SELECT finest.id, finest.n{% for word in key %}, finest.{{ word }}{% endfor %}

    FROM finest
    SEMI JOIN failing ON finest.id = failing.id
    {% for word in key %}
        AND finest.c{{ loop.index0 }} = failing.{{ word }}
    {% endfor %}
)
SELECT inside.id, levels.position, SUM(inside.n * here.bits) AS bits, SUM(inside.n * here.bits_at_top) AS bits_at_top
FROM inside
JOIN {{ levels }} AS levels ON inside.id = levels.id
JOIN {{ bits }} AS here
    ON levels.position = here.position AND levels.level = here.level
    {% for word in key %}
    AND inside.{{ word }} & levels.m{{ loop.index0 }} = here.{{ word }}
    {% endfor %}
GROUP BY inside.id, levels.position
