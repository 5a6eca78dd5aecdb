/* sqlaudit: attack_merged */
WITH mine AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("age" AS VARCHAR), '') AS m1, ROW_NUMBER() OVER () AS place FROM patients
),
theirs AS NOT MATERIALIZED (
    SELECT COALESCE('=' || CAST("age" AS VARCHAR), '') AS m1, ROW_NUMBER() OVER () AS place FROM patients
),
both_releases AS MATERIALIZED (
    SELECT
        mine.m1 AS mine_m1, theirs.m1 AS theirs_m1,
        COUNT(*) AS n
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY mine.m1, theirs.m1
),
compared AS NOT MATERIALIZED (
    SELECT
        both_releases.*,
        CASE WHEN 1 = 1 THEN 1 ELSE 0 END AS fits,
0 AS finer
    FROM both_releases
),
with_size AS NOT MATERIALIZED (
    SELECT compared.*, SUM(n) OVER (PARTITION BY mine_m1) AS before, SUM(n * fits) OVER (PARTITION BY mine_m1, theirs_m1) AS after
    FROM compared
)
SELECT
    CAST(COALESCE(SUM(n), 0) AS BIGINT) AS positions,
    CAST(COALESCE(SUM(CASE WHEN fits = 1 AND 1 = 1 THEN n ELSE 0 END), 0) AS BIGINT) AS fitting,
    CAST(COALESCE(SUM(CASE WHEN fits = 1 AND finer > 0 THEN n ELSE 0 END), 0) AS BIGINT) AS restored,
    CAST(COALESCE(SUM(CASE WHEN fits = 1 AND finer > 0 THEN n * finer ELSE 0 END), 0) AS BIGINT) AS cells,
    CAST(COALESCE(SUM(CASE WHEN fits = 1 AND before < 5 THEN n ELSE 0 END), 0) AS BIGINT) AS below_before,
    CAST(COALESCE(SUM(CASE WHEN fits = 1 AND after < 5 THEN n ELSE 0 END), 0) AS BIGINT) AS below_after
FROM with_size
