{# Whether a key names rows: rows, rows where a part of it is missing, and different keys. #}
SELECT
    COUNT(*) AS row_total,
    CAST(COALESCE(SUM(CASE WHEN {% for key in keys %}{{ key }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END), 0) AS BIGINT) AS nameless,
    (
        SELECT COUNT(*)
        FROM (
            SELECT 1
            FROM {{ source }}
            WHERE {% for key in keys %}{{ key }} IS NOT NULL{{ " AND " if not loop.last }}{% endfor %}

            GROUP BY {{ keys | join(", ") }}
        ) AS named
    ) AS different
FROM {{ source }}
