{# How many boxes lie inside a known property, and inside properties of a single owner. #}
WITH boxes AS (
    SELECT
    {% for bound in bounds %}
        {{ bound }} AS b{{ loop.index }},
    {% endfor %}
        COUNT(*) AS messages
    FROM {{ boxes }}
    WHERE {% for bound in every_bound %}{{ bound }} IS NOT NULL{{ " AND " if not loop.last }}{% endfor %}

    GROUP BY {% for bound in bounds %}{{ bound }}{{ ", " if not loop.last }}{% endfor %}

),
known AS (
    SELECT
    {% for bound in property_bounds %}
        {{ bound }} AS p{{ loop.index }},
    {% endfor %}
        {{ owner }} AS owner
    FROM {{ properties }}
),
owned AS (
    SELECT b1, b2, b3, b4, messages, COUNT(DISTINCT owner) AS owners
    FROM boxes
    LEFT JOIN known ON b1 >= p1 AND b2 <= p2 AND b3 >= p3 AND b4 <= p4
    GROUP BY b1, b2, b3, b4, messages
)

SELECT
    COUNT(*) AS boxes,
    CAST(COALESCE(SUM(CASE WHEN owners > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS inside,
    CAST(COALESCE(SUM(CASE WHEN owners = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS exposed,
    CAST(COALESCE(SUM(CASE WHEN owners = 1 THEN messages ELSE 0 END), 0) AS BIGINT) AS messages,
    (
        SELECT COUNT(*)
        FROM known AS every_property
        WHERE p1 IS NULL OR p2 IS NULL OR p3 IS NULL OR p4 IS NULL OR owner IS NULL
    ) AS skipped
FROM owned
