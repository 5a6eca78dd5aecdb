{# What the file of a cube has: its blocks, their people and rows, and the people of the smallest one. #}
SELECT
    COUNT(*) AS blocks,
    SUM(TRY_CAST({{ people }} AS BIGINT)) AS people,
    SUM(TRY_CAST({{ rows }} AS BIGINT)) AS all_rows,
    MIN(TRY_CAST({{ people }} AS BIGINT)) AS smallest
FROM {{ source }}
