/* sqlaudit: psi */
WITH
numbered AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, class.*
    FROM classes AS class
),
target AS NOT MATERIALIZED (
    SELECT
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
numbers AS (
    SELECT lane, CAST(s AS DOUBLE) AS cf
    FROM lanes
),
densities AS MATERIALIZED (
    SELECT
        here.lane AS here,
        there.lane AS there,
        CASE
            WHEN ABS(here.cf - there.cf) > CAST(38 AS DOUBLE) THEN 0.0
            ELSE EXP(-0.5 * ((here.cf - there.cf) / CAST(1 AS DOUBLE)) * ((here.cf - there.cf) / CAST(1 AS DOUBLE)))
        END AS density
    FROM numbers AS here
    CROSS JOIN numbers AS there
),
valued AS MATERIALIZED (
    SELECT id, classes, table_rows, lane, c
    FROM (
        SELECT
            id, classes, table_rows,
            UNNEST([0, 1]) AS lane,
            UNNEST([c0, c1]) AS c
        FROM numbered AS class
    ) AS unfolded
    WHERE c > 0
),
estimates AS (
    SELECT
        here.id,
        
        MAX(here.classes) AS classes,
        MAX(here.table_rows) AS table_rows,
        CAST(1 AS DOUBLE) * SUM(there.c * densities.density) AS psi
    FROM valued AS here
    JOIN valued AS there ON here.id = there.id
    JOIN densities ON here.lane = densities.here AND there.lane = densities.there
    GROUP BY here.id, here.lane
),
extremes AS (
    SELECT id, MAX(classes) AS classes, MAX(table_rows) AS table_rows, MIN(psi) AS lowest, MAX(psi) AS highest
    FROM estimates
    GROUP BY id
)

SELECT
    MIN(lowest) AS lowest,
    MAX(highest) AS highest,
    0 AS failing_classes, 0 AS failing_rows
FROM extremes
