{# For every node by how much the regions of its rows are larger than their tuples, Pr(q*) / Pr(q), added up: of all
   columns together (`joint`), and as the product over the columns (`apart`). Any row lies in the region of one that is
   left out. The tuples are the finest classes. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, key | join(", ")) }},
{{ parts.failing_keys(blocks, any, key | join(", ")) }},
finest AS (
    {{ parts.finest_in_nodes(base, nodes, key) }}
),
tuples AS MATERIALIZED (
    SELECT
        finest.id, finest.n{% for word in key %}, finest.{{ word }}{% endfor %},
        SUM(finest.n) OVER (PARTITION BY finest.id{% for word in key %}, finest.c{{ loop.index0 }}{% endfor %}) AS class_rows,
        failing.id IS NOT NULL AS left_out
    FROM finest
    LEFT JOIN failing ON finest.id = failing.id
    {% for word in key %}
        AND finest.c{{ loop.index0 }} = failing.{{ word }}
    {% endfor %}
),
inflated AS (
    SELECT
        tuples.id, tuples.n{% for word in key %}, tuples.{{ word }}{% endfor %},
        CASE WHEN MAX(CASE WHEN tuples.left_out THEN 1 ELSE 0 END) = 1 THEN {{ rows }} ELSE MAX(tuples.class_rows) END AS region,
        SUM(CASE WHEN tuples.left_out THEN here.bits_at_top ELSE here.bits END) AS bits
    FROM tuples
    JOIN {{ levels }} AS levels ON tuples.id = levels.id
    JOIN {{ bits }} AS here
        ON levels.position = here.position AND levels.level = here.level
        {% for word in key %}
        AND tuples.{{ word }} & levels.m{{ loop.index0 }} = here.{{ word }}
        {% endfor %}
    GROUP BY tuples.id, tuples.n{% for word in key %}, tuples.{{ word }}{% endfor %}

)
SELECT id, CAST(SUM(region) AS DOUBLE) AS joint, SUM(n * POWER(2, bits)) AS apart
FROM inflated
GROUP BY id
