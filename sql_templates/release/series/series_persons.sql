{# How many persons a series of releases has, how many of them are in more than one release, and how many have another value
   in another release. #}
WITH seen AS (
    {% for one in releases %}
    SELECT {{ one.entity }} AS e, {{ one.sensitive }} AS s
    FROM {{ one.source }}
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
),
persons AS (
    SELECT COUNT(*) AS times, COUNT(DISTINCT s) + MAX(CASE WHEN s IS NULL THEN 1 ELSE 0 END) AS kinds
    FROM seen
    WHERE e IS NOT NULL
    GROUP BY e
)
SELECT
    COUNT(*) AS persons,
    COUNT(CASE WHEN times > 1 THEN 1 END) AS several,
    COUNT(CASE WHEN kinds > 1 THEN 1 END) AS changing
FROM persons
