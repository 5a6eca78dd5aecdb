{# For each range query the mean over rows of how far the sensitive values that the query means in a class are from those
   of the whole class. Suppressed rows are compared with the whole original. One row a query. #}
WITH blocks AS (
    SELECT c, SUM(n) AS n
    FROM {{ source }}
    GROUP BY c
),
mixtures AS (
    SELECT rows_of.c, members.grp, SUM(rows_of.n) AS n
    FROM {{ source }} AS rows_of
    JOIN {{ members }} AS members ON rows_of.lane = members.lane
    WHERE rows_of.c IS NOT NULL
    GROUP BY rows_of.c, members.grp
    UNION ALL
    SELECT NULL, grp, MAX(part)
    FROM {{ members }}
    GROUP BY grp
),
selected AS (
    {% for query in queries %}
    SELECT {{ loop.index0 }} AS query, c, lane, SUM(n) AS n
    FROM {{ source }}
    WHERE {% for part in query %}v{{ part.place }} BETWEEN {{ part.low }} AND {{ part.high }}{{ " AND " if not loop.last }}{% else %}TRUE{% endfor %}

    GROUP BY c, lane
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
),
sizes AS (
    SELECT query, c, SUM(n) AS n
    FROM selected
    GROUP BY query, c
),
meant AS (
    SELECT selected.query, selected.c, members.grp, SUM(selected.n) AS n
    FROM selected
    JOIN {{ members }} AS members ON selected.lane = members.lane
    GROUP BY selected.query, selected.c, members.grp
),
shown AS (
    SELECT c, CASE WHEN c IS NULL THEN {{ rows }} ELSE n END AS whole, n
    FROM blocks
),
compared AS (
    SELECT
        sizes.query, shown.n AS weight,
        ABS(CAST(COALESCE(meant.n, 0) AS DOUBLE) / sizes.n - CAST(mixtures.n AS DOUBLE) / shown.whole) AS difference
    FROM sizes
    JOIN shown ON sizes.c IS NOT DISTINCT FROM shown.c
    JOIN mixtures ON shown.c IS NOT DISTINCT FROM mixtures.c
    LEFT JOIN meant ON sizes.query = meant.query AND sizes.c IS NOT DISTINCT FROM meant.c AND mixtures.grp = meant.grp
)
SELECT query, SUM(weight * difference) / {{ rows }} AS noise
FROM compared
GROUP BY query
ORDER BY query
