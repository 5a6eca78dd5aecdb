/* sqlaudit: standalone_persons */
WITH person_rows AS (
    SELECT
        "clinic" AS q1,
        "person" AS e
    FROM visits
),
numbered AS (
    SELECT
        e,
        DENSE_RANK() OVER (ORDER BY q1) AS event,
        CASE WHEN q1 IS NULL THEN 1 ELSE 0 END AS lonely
    FROM person_rows
    WHERE e IS NOT NULL
),
own AS (
    SELECT DISTINCT e, event FROM numbered WHERE lonely = 0
),
people AS (
    SELECT e, MAX(lonely) AS lonely FROM numbered GROUP BY e
),
shared AS (
    SELECT event AS one, event AS other, COUNT(*) AS persons FROM own GROUP BY event
    UNION ALL
    SELECT mine.event, further.event, COUNT(*)
    FROM own AS mine
    JOIN own AS further ON further.e = mine.e AND mine.event < further.event
    GROUP BY mine.event, further.event
),
least AS (
    SELECT own.e AS e, MIN(shared.persons) AS persons
    FROM own
    JOIN shared ON shared.one = own.event
    JOIN own AS further ON further.e = own.e AND further.event = shared.other
    GROUP BY own.e
),
judged AS (
    SELECT
        COUNT(*) AS classes,
        MIN(CASE WHEN people.lonely = 1 THEN 1 ELSE found.persons END) AS level_k
        , CAST(COALESCE(SUM(CASE WHEN (people.lonely = 1 AND 1 < 5) OR (people.lonely = 0 AND found.persons < 5) THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing
    FROM people
    LEFT JOIN least AS found ON found.e = people.e
),
counted AS (
    SELECT
        COUNT(*) AS table_rows,
        CAST(COALESCE(SUM(CASE WHEN e IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
            + (SELECT COUNT(*) FROM (SELECT LOWER(TRIM(CAST(e AS TEXT))) AS spelled FROM person_rows GROUP BY LOWER(TRIM(CAST(e AS TEXT))) HAVING COUNT(DISTINCT CAST(e AS TEXT)) > 1) AS found) AS unusable
    FROM person_rows
),
answered AS (
SELECT
    judged.classes,
    counted.table_rows,
    judged.failing AS failing_classes,
    judged.failing AS failing_rows,
    0 AS undecided_classes,
    counted.unusable,
    judged.level_k,
    CASE
        WHEN counted.table_rows = 0 OR counted.unusable > 0 THEN 'undecided'
        WHEN judged.failing > 0 THEN 'fail'
        ELSE 'pass'
    END AS verdict
FROM judged
CROSS JOIN counted
)
SELECT
    't_k_5' AS test_id,
    classes AS classes,
    CASE WHEN CAST(level_k AS DOUBLE) > 1.797693134862315E308 THEN 1.797693134862315E308 ELSE CAST(level_k AS DOUBLE) END AS level,
    verdict
FROM answered
