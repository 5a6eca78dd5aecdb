{# For every node how far the sensitive values of its classes are from those of the table (`deviation`, as of tuples, added
   up over the classes that stay), and the sums over rows of the distance that is gone times, or times log2 of, how much
   larger the region of the row is than its tuple. A row that is left out may be any, and nothing of its distance stays. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, key | join(", ")) }},
{{ parts.failing_keys(blocks, any, key | join(", ")) }},
mixtures AS (
    SELECT
        nodes.id{% for word in key %}, counts.{{ word }} & nodes.m{{ loop.index0 }} AS c{{ loop.index0 }}{% endfor %},
        counts.lane, MAX(counts.part) AS part, CAST(SUM(counts.c) AS BIGINT) AS c
    FROM {{ counts }} AS counts
    CROSS JOIN {{ nodes }} AS nodes
    GROUP BY nodes.id{% for word in key %}, counts.{{ word }} & nodes.m{{ loop.index0 }}{% endfor %}, counts.lane
),
sized AS (
    SELECT *, CAST(SUM(c) OVER (PARTITION BY id{% for word in key %}, c{{ loop.index0 }}{% endfor %}) AS BIGINT) AS n
    FROM mixtures
),
measured AS (
    SELECT
        id{% for word in key %}, c{{ loop.index0 }}{% endfor %}, n,
        CAST(CAST(n AS HUGEINT) * {{ rows }} + SUM(ABS(CAST(c AS HUGEINT) * {{ rows }} - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS HUGEINT) AS deviation
    FROM sized
    GROUP BY id{% for word in key %}, c{{ loop.index0 }}{% endfor %}, n
),
classes AS MATERIALIZED (
    SELECT
        measured.id{% for word in key %}, measured.c{{ loop.index0 }}{% endfor %},
        CASE WHEN failing.id IS NULL THEN measured.n ELSE {{ rows }} END AS region,
        CASE WHEN failing.id IS NULL THEN measured.n END AS n,
        CASE WHEN failing.id IS NULL THEN measured.deviation ELSE 0 END AS deviation
    FROM measured
    LEFT JOIN failing ON measured.id = failing.id
    {% for word in key %}
        AND measured.c{{ loop.index0 }} = failing.{{ word }}
    {% endfor %}
),
gone AS (
    SELECT
        classes.id, CAST(tuples.n AS DOUBLE) AS n, CAST(classes.region AS DOUBLE) / tuples.n AS inflation,
        CAST(tuples.deviation AS DOUBLE) / tuples.n - COALESCE(CAST(classes.deviation AS DOUBLE) / classes.n, 0) AS distance
    FROM {{ tuples }} AS tuples
    CROSS JOIN {{ nodes }} AS nodes
    JOIN classes ON nodes.id = classes.id
    {% for word in key %}
        AND tuples.{{ word }} & nodes.m{{ loop.index0 }} = classes.c{{ loop.index0 }}
    {% endfor %}
),
joint AS (
    SELECT id, SUM(n * distance * inflation) AS hybrid, SUM(n * distance * LOG2(inflation)) AS hybrid_log
    FROM gone
    GROUP BY id
),
kept AS (
    SELECT id, CAST(SUM(deviation) AS HUGEINT) AS deviation
    FROM classes
    GROUP BY id
)
SELECT kept.id, kept.deviation, joint.hybrid, joint.hybrid_log
FROM kept
JOIN joint ON kept.id = joint.id
