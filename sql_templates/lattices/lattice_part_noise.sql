{# For every node how far the sensitive values of the rows that range queries mean in a class are from those of the whole
   class: the differences of shares, times the rows of the class, added up over values, classes and queries. Rows that
   are left out are compared with the whole table. #}
{% import "lattices/_lattice.sql" as parts with context %}
{% set cells %}{% for word in key %}, c{{ loop.index0 }}{% endfor %}{% endset %}
WITH {{ parts.judged(grouped, blocks, key | join(", ")) }},
{{ parts.failing_keys(blocks, any, key | join(", ")) }},
homed AS MATERIALIZED (
    SELECT
        nodes.id, failing.id IS NOT NULL AS gone{% for word in key %}, CASE WHEN failing.id IS NULL THEN ranked.{{ word }} & nodes.m{{ loop.index0 }} ELSE 0 END AS c{{ loop.index0 }}{% endfor %},
        ranked.lane, ranked.part, ranked.c{% for place in places %}, ranked.v{{ place }}{% endfor %}

    FROM {{ ranked }} AS ranked
    CROSS JOIN {{ nodes }} AS nodes
    LEFT JOIN failing ON nodes.id = failing.id
    {% for word in key %}
        AND ranked.{{ word }} & nodes.m{{ loop.index0 }} = failing.{{ word }}
    {% endfor %}
),
homes AS (
    SELECT id, gone{{ cells }}, SUM(c) AS n
    FROM homed
    GROUP BY id, gone{{ cells }}
),
mixtures AS (
    SELECT id, gone{{ cells }}, lane, SUM(c) AS n
    FROM homed
    WHERE NOT gone
    GROUP BY id, gone{{ cells }}, lane
    UNION ALL
    SELECT homes.id, homes.gone{{ cells }}, parts.lane, parts.n
    FROM homes
    CROSS JOIN (SELECT lane, MAX(part) AS n FROM {{ ranked }} AS ranked GROUP BY lane) AS parts
    WHERE homes.gone
),
selected AS (
    {% for query in queries %}
    SELECT {{ loop.index0 }} AS query, id, gone{{ cells }}, lane, SUM(c) AS n
    FROM homed
    WHERE {% for part in query %}v{{ part.place }} BETWEEN {{ part.low }} AND {{ part.high }}{{ " AND " if not loop.last }}{% else %}TRUE{% endfor %}

    GROUP BY id, gone{{ cells }}, lane
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
),
sizes AS (
    SELECT query, id, gone{{ cells }}, SUM(n) AS n
    FROM selected
    GROUP BY query, id, gone{{ cells }}
),
compared AS (
    SELECT
        sizes.id, homes.n AS weight,
        ABS(CAST(COALESCE(selected.n, 0) AS DOUBLE) / sizes.n - CAST(mixtures.n AS DOUBLE) / CASE WHEN sizes.gone THEN {{ rows }} ELSE homes.n END) AS difference
    FROM sizes
    JOIN homes USING (id, gone{{ cells }})
    JOIN mixtures USING (id, gone{{ cells }})
    LEFT JOIN selected USING (query, id, gone{{ cells }}, lane)
)
SELECT id, SUM(weight * difference) AS noise
FROM compared
GROUP BY id
