{# Rows with one key: how many, and how often each sensitive value occurs, as a sorted list of lane and count in one
   number. #}
SELECT
    key,
    CAST(SUM(n) AS BIGINT) AS n,
    {{ "LIST_SORT(LIST(CAST(lane AS BIGINT) * 1099511627776 + n))" if lane else "CAST([] AS BIGINT[])" }} AS lanes
FROM (
    SELECT {{ key }} AS key, {{ lane ~ " AS lane, " if lane }}CAST(SUM(n) AS BIGINT) AS n
    FROM {{ source }}
    WHERE {{ key }} IS NOT NULL
    GROUP BY {{ key }}{{ ", " ~ lane if lane }}
) AS cells
GROUP BY key
