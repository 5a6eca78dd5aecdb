{# Released rows beyond the original rows in the region of their class; and beyond those of their sensitive value there. #}
WITH held AS (
    SELECT inside.c, {{ "original." ~ own ~ " AS lane, " if own }}SUM(original.n) AS n
    FROM {{ inside }} AS inside
    JOIN {{ places }} AS places ON inside.a = places.a
    JOIN {{ original }} AS original ON places.key = original.q
    GROUP BY inside.c{{ ", original." ~ own if own }}
),
released AS (
    SELECT release.c, {{ "release." ~ other ~ " AS lane, " if own }}SUM(release.n) AS n
    FROM {{ release }} AS release
    JOIN {{ classes }} AS classes ON release.c = classes.key
    WHERE NOT classes.is_whole
    GROUP BY release.c{{ ", release." ~ other if own }}
)
SELECT CAST(COALESCE(SUM(GREATEST(released.n - COALESCE(held.n, 0), 0)), 0) AS BIGINT) AS too_many
FROM released
LEFT JOIN held ON released.c = held.c{{ " AND released.lane = held.lane" if own }}
