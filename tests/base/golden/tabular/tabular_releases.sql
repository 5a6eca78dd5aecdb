/* sqlaudit: tabular_releases */
SELECT
    CAST(0 AS INTEGER) AS e
, "region" AS d0, CAST(NULL AS VARCHAR) AS d1
, CAST("n" AS VARCHAR) AS m0
FROM last_month
UNION ALL
SELECT
    CAST(1 AS INTEGER) AS e
, "region" AS d0, CAST("month" AS VARCHAR) AS d1
, CAST("n" AS VARCHAR) AS m0
FROM this_month
