/* sqlaudit: classes_packed */
WITH target AS NOT MATERIALIZED (
    SELECT
        zip AS q1,
        disease AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT
            s,
            COUNT(*) AS total
        FROM target
        GROUP BY s
    ) AS seen
),
weights AS MATERIALIZED (
    SELECT
        s
        , CAST(CASE lane WHEN 0 THEN 1 WHEN 1 THEN 256 ELSE 0 END AS HUGEINT) AS w0
    FROM lanes
    WHERE s IS NOT NULL
),
packed AS NOT MATERIALIZED (
    SELECT
        q1,
        COUNT(*) AS n,
        COUNT(*) AS size,
        COUNT(*) AS table_rows
        , SUM(w0) AS w0
    FROM target AS member
    LEFT JOIN weights ON member.s = weights.s
    GROUP BY q1
),
vectors AS NOT MATERIALIZED (
    SELECT
        n, size, COUNT(*) AS classes, CAST(SUM(table_rows) AS BIGINT) AS table_rows
, w0
    FROM packed
    GROUP BY n, size, w0
)
SELECT
    classes,
    n, size, table_rows
    , CAST((w0) & 255 AS BIGINT) AS c0
    , CAST((w0 >> 8) & 255 AS BIGINT) AS c1
FROM vectors
