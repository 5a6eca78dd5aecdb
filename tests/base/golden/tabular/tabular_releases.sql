/* sqlaudit: tabular_releases */
SELECT
    CAST(0 AS INTEGER) AS e
, "region" AS d0
, "n" AS m0
FROM last_month
UNION ALL
SELECT
    CAST(1 AS INTEGER) AS e
, "region" AS d0
, "n" AS m0
FROM this_month
