/* sqlaudit: standalone */
WITH target AS (
    SELECT
        "a" AS q1,
        CASE WHEN "a" IS NULL THEN ROW_NUMBER() OVER (ORDER BY "a") END AS solo
    FROM patients
),
facts AS (
    SELECT
        q1, solo,
        CAST(COUNT(*) AS BIGINT) AS n,
        CAST(COUNT(*) AS BIGINT) AS size,
        CAST(COUNT(*) AS BIGINT) AS row_count
    FROM target
    GROUP BY q1, solo
),
tested AS (
    SELECT
        *,
        CASE WHEN size < 1 THEN 1 ELSE 0 END AS falls_short
    FROM facts
),
judged AS (
    SELECT
        COUNT(*) AS classes,
        CAST(COALESCE(SUM(row_count), 0) AS BIGINT) AS table_rows
        , MIN(size) AS level_k
        , CAST(COALESCE(SUM(falls_short), 0) AS BIGINT) AS failing_classes
        , CAST(COALESCE(SUM(falls_short * row_count), 0) AS BIGINT) AS failing_rows
        , 0 AS undecided_classes
        , CASE WHEN SUM(falls_short) > 0 THEN 'fail' ELSE 'pass' END AS finding
    FROM tested
)
SELECT
    classes, table_rows, failing_classes, failing_rows, undecided_classes,
    0 AS unusable,
    level_k,
    CASE
        WHEN table_rows = 0 THEN 'undecided'
        WHEN finding = 'pass' AND undecided_classes > 0 THEN 'undecided'
        ELSE finding
    END AS verdict
FROM judged
