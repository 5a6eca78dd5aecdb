/* sqlaudit: attack_minimality */
WITH labels_q1 AS MATERIALIZED (
    SELECT
        UNNEST(CAST($1 AS VARCHAR[])) AS value,
        UNNEST(CAST($2 AS VARCHAR[])) AS label,
        UNNEST(CAST($3 AS VARCHAR[])) AS finer
),
people AS NOT MATERIALIZED (
    SELECT
        COALESCE('=' || CAST("age" AS VARCHAR), '') AS q1
    FROM patients
),
labelled AS NOT MATERIALIZED (
    SELECT
        labels_q1.label AS q1,
        labels_q1.finer AS finer
    FROM people
    JOIN labels_q1 ON people.q1 = labels_q1.value
),
parts AS NOT MATERIALIZED (
    SELECT q1, finer, COUNT(*) AS size
    FROM labelled
    GROUP BY q1, finer
),
class_blocks AS MATERIALIZED (
    SELECT q1, SUM(size) AS size, STRING_AGG(CAST(size AS VARCHAR), ',' ORDER BY size) AS blocks
    FROM parts
    GROUP BY q1
),
cells AS NOT MATERIALIZED (
    SELECT
        COALESCE('=' || CAST("age" AS VARCHAR), '') AS q1,
        "d" AS s, COUNT(*) AS n
    FROM patients
    GROUP BY COALESCE('=' || CAST("age" AS VARCHAR), ''), "d"
),
class_counts AS MATERIALIZED (
    SELECT q1, SUM(n) AS size, STRING_AGG(CAST(n AS VARCHAR), ',' ORDER BY n) AS counts
    FROM cells
    GROUP BY q1
)
SELECT
    COALESCE(blocks, '') AS blocks, COALESCE(counts, '') AS counts,
    CASE WHEN class_blocks.size = class_counts.size THEN 1 ELSE 0 END AS alike, COUNT(*) AS classes
FROM class_blocks
FULL OUTER JOIN class_counts ON class_blocks.q1 = class_counts.q1
GROUP BY COALESCE(blocks, ''), COALESCE(counts, ''), CASE WHEN class_blocks.size = class_counts.size THEN 1 ELSE 0 END
