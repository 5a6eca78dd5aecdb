/* sqlaudit: figures of disease */
WITH class AS NOT MATERIALIZED (
    SELECT * FROM (/* sqlaudit: equivalence classes */
WITH target AS NOT MATERIALIZED (
    SELECT
        "zip" AS q1,
        "age" AS q2,
        CASE WHEN "zip" IS NULL OR "age" IS NULL THEN ROW_NUMBER() OVER () END AS solo,
        "person" AS e,
        "disease" AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT s, COUNT(DISTINCT e) AS total
        FROM target
        GROUP BY s
    ) AS seen
),
members AS MATERIALIZED (
    SELECT q1, q2, solo, e, s, COUNT(*) AS row_count
    FROM target
    GROUP BY q1, q2, solo, e, s
),
cells AS NOT MATERIALIZED (
    SELECT
        q1, q2, solo,
        s,
        COUNT(*) AS c,
        SUM(row_count) AS row_count
    FROM members AS member
    GROUP BY q1, q2, solo, s
),
coded AS NOT MATERIALIZED (
    SELECT
cells.q1, cells.q2, cells.solo, 
        COALESCE(lanes.lane, 3) AS lane, c, row_count
    FROM cells
    LEFT JOIN lanes ON cells.s = lanes.s
),
persons AS NOT MATERIALIZED (
    SELECT q1, q2, solo, COUNT(DISTINCT e) AS size
    FROM members
    GROUP BY q1, q2, solo
),
parts AS NOT MATERIALIZED (
    SELECT q1, q2, solo, lane, c, row_count, CAST(NULL AS BIGINT) AS size
    FROM coded
    UNION ALL
    SELECT q1, q2, solo, CAST(NULL AS BIGINT) AS lane, CAST(NULL AS BIGINT) AS c, 0 AS row_count, size
    FROM persons
),
grouped AS NOT MATERIALIZED (
    SELECT
        q1, q2, solo,
        CAST(SUM(c) AS BIGINT) AS n,
        CAST(MAX(size) AS BIGINT) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows,
        ARRAY_AGG(lane * 1099511627776 + c) FILTER (WHERE NOT lane IS NULL) AS cell_list
    FROM parts AS part
    GROUP BY q1, q2, solo
)
SELECT
    ROW_NUMBER() OVER () AS id,
    
    1 AS classes, n, size, table_rows, cell_list
FROM grouped
WHERE n > 0) AS class
),
long AS NOT MATERIALIZED (
    SELECT
        id, n, size, classes, table_rows,
        cell >> 40 AS lane,
        cell & 1099511627775 AS c
    FROM (
        SELECT id, n, size, classes, table_rows, UNNEST(cell_list) AS cell
        FROM class
    ) AS unfolded
),
all_lanes AS MATERIALIZED (
    SELECT lane, total FROM (/* sqlaudit: sensitive values */
WITH target AS NOT MATERIALIZED (
    SELECT
        "person" AS e,
        "disease" AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT s, COUNT(DISTINCT e) AS total
        FROM target
        GROUP BY s
    ) AS seen
)
SELECT lane, s, total
FROM lanes
ORDER BY lane) AS seen
),
cells AS NOT MATERIALIZED (
    SELECT long.*, all_lanes.total AS t
    FROM long
    JOIN all_lanes ON long.lane = all_lanes.lane
),
facts AS MATERIALIZED (
    SELECT
        long.id,
        long.n,
        MAX(long.size) AS size,
        MAX(long.classes) AS classes,
        MAX(long.table_rows) AS table_rows
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
        , COALESCE(MAX(c), 0) AS largest
        , CAST(LIST_SUM(MAX(c, 2)) AS BIGINT) AS head_2
        , (CAST(n AS HUGEINT) * 7 + COALESCE(SUM((ABS(CAST(c AS HUGEINT) * 7 - CAST(n AS HUGEINT) * t) - CAST(n AS HUGEINT) * t)), 0)) AS equal_distance
        , MAX(CAST(long.n AS HUGEINT)) AS wide_n
    FROM cells AS long
    GROUP BY long.id, long.n
)
SELECT
    size,
    CAST(SUM(classes) AS BIGINT) AS classes,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows
    , MIN(size) AS k
    , MIN(distinct_values) AS l
    , MAX(head_2) AS head
    , CAST(COALESCE(SUM(CASE WHEN distinct_values < 2 THEN classes ELSE 0 END), 0) AS BIGINT) AS few_classes
    , CAST(COALESCE(SUM(CASE WHEN distinct_values < 2 THEN table_rows ELSE 0 END), 0) AS BIGINT) AS few_rows
    , CAST(COALESCE(SUM(CASE WHEN distinct_values = 2 THEN classes ELSE 0 END), 0) AS BIGINT) AS few_doubtful
FROM facts
GROUP BY size
ORDER BY size
