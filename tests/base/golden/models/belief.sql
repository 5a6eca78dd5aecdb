/* sqlaudit: belief */
WITH target AS NOT MATERIALIZED (
    SELECT
        o1 AS s
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
population AS (
    SELECT
        
        o2 AS o1, 
        o1 AS s
    FROM patients AS people
),
cells AS (
    SELECT o1, s, 0 AS n, 0 AS table_rows, COUNT(*) AS people
    FROM population
    GROUP BY o1, s
    UNION ALL
    SELECT
        
NULL, 
        s, COUNT(*), COUNT(*), 0
    FROM target
    GROUP BY s
),
domain AS (
    SELECT COUNT(*) AS values_in_all
    FROM (SELECT DISTINCT s FROM cells) AS seen
),
added AS (
    SELECT
        cells.*,
        SUM(n) OVER (PARTITION BY s) AS n_with_value,
        SUM(people) OVER (PARTITION BY s) AS people_with_value,
        SUM(n) OVER (PARTITION BY 1) AS class_size,
        SUM(table_rows) OVER (PARTITION BY 1) AS class_rows
    FROM cells
),
terms AS (
    SELECT
        added.*,
        CASE WHEN added.s IS NULL THEN 1 ELSE COALESCE(lanes.lane, -1) END AS lane,
        CAST(n_with_value AS DOUBLE) * people / people_with_value AS term
    FROM added
    LEFT JOIN lanes ON added.s = lanes.s
    WHERE people > 0 AND class_size > 0
),
weighed AS (
    SELECT
        terms.*,
        SUM(term) OVER (PARTITION BY o1, 1) AS all_terms,
        SUM(people) OVER (PARTITION BY o1, 1) AS people_alike,
        COUNT(*) OVER (PARTITION BY o1, 1) AS values_here
    FROM terms
),
beliefs AS (
    SELECT weighed.*, CASE WHEN all_terms > 0 THEN term / all_terms END AS posterior
    FROM weighed
),
tested AS (
    SELECT
        beliefs.*,
        CASE WHEN (posterior > 1.000000001) THEN 1 ELSE 0 END AS breached,
        CASE WHEN NOT ((posterior > 1.000000001)) AND ((posterior > 0 AND posterior BETWEEN 0.999999999 AND 1.000000001)) THEN 1 ELSE 0 END AS doubtful
    FROM beliefs
),
alike AS (
    SELECT
        o1, 
        MAX(class_rows) AS class_rows,
        MAX(posterior) AS highest,
        CASE WHEN MAX(posterior) IS NULL THEN NULL WHEN MAX(values_here) < MAX(domain.values_in_all) THEN 0.0 ELSE MIN(posterior) END AS lowest,
        SUM(breached) AS breaches,
        MAX(doubtful) AS doubtful
        , CASE WHEN MAX(doubtful) = 1 THEN STRING_AGG(
            CAST(lane AS TEXT) || ':' || CAST(n_with_value AS TEXT) || ':' || CAST(people AS TEXT) || ':' || CAST(people_with_value AS TEXT) || ':' || CAST(doubtful AS TEXT),
            ',' ORDER BY lane, people, n_with_value, people_with_value, doubtful
        ) END AS cases
    FROM tested
    CROSS JOIN domain
    GROUP BY o1, domain.values_in_all
),
classes AS (
    SELECT
        
        MAX(class_rows) AS class_rows,
        MAX(highest) AS highest,
        MIN(lowest) AS lowest,
        COUNT(*) AS people,
        SUM(CASE WHEN highest IS NULL THEN 1 ELSE 0 END) AS impossible,
        SUM(breaches) AS breaches,
        MAX(doubtful) AS doubtful
        , STRING_AGG(cases, '|' ORDER BY cases) AS cases
    FROM alike
    
)
SELECT
    CASE WHEN breaches > 0 THEN 1 ELSE 0 END AS already,
    cases,
    COUNT(*) AS classes,
    CAST(SUM(class_rows) AS BIGINT) AS table_rows
FROM classes
WHERE doubtful = 1
GROUP BY CASE WHEN breaches > 0 THEN 1 ELSE 0 END, cases
LIMIT 200001
