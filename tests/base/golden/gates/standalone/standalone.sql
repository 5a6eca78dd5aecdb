/* sqlaudit: standalone */
WITH person_rows AS (
    SELECT
        "clinic" AS q1,
        "person" AS e,
        NULL AS s
    FROM visits
),
pairs AS (
    SELECT q1, e, COUNT(*) AS row_count
    FROM person_rows
    WHERE e IS NOT NULL
    GROUP BY q1, e
),numbered AS (
    SELECT
        e,
        row_count,
        DENSE_RANK() OVER (ORDER BY q1) AS event,
        CASE WHEN q1 IS NULL THEN 1 ELSE 0 END AS lonely
    FROM pairs),
own AS (
    SELECT e, event FROM numbered WHERE lonely = 0
),
people AS (
    SELECT e, MAX(lonely) AS lonely FROM numbered GROUP BY e
),
candidates AS (
    SELECT
        own.e AS e,
        COUNT(*) AS events,
        MIN(own.event) AS lowest,
        MAX(own.event) AS highest,
        SUM(MOD(own.event, 1000003)) AS added,
        SUM(MOD(own.event, 1000003) * MOD(own.event, 1000003)) AS squared,
        SUM(MOD(MOD(own.event, 1000003) * MOD(own.event, 1000003), 1000003) * MOD(own.event, 1000003)) AS cubed,
        SUM(MOD(MOD(own.event, 1000003) * MOD(own.event, 1000003), 1000003) * MOD(MOD(own.event, 1000003) * MOD(own.event, 1000003), 1000003)) AS fourth
    FROM own    JOIN people ON people.e = own.e
    WHERE people.lonely = 0    GROUP BY own.e
),
standing AS (
    SELECT
        e, events,
        FIRST_VALUE(e) OVER (PARTITION BY events, lowest, highest, added, squared, cubed, fourth ORDER BY e ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS known
    FROM candidates
),
mixed AS (
    SELECT known
    FROM (
        SELECT standing.known AS known, standing.events AS events, own.event AS event
        FROM standing
        JOIN own ON own.e = standing.e
        GROUP BY standing.known, standing.events, own.event
    ) AS of_group
    GROUP BY known, events
    HAVING COUNT(*) > events
),
compared AS (
    SELECT standing.e AS e, COUNT(*) AS shared
    FROM mixed
    JOIN standing ON standing.known = mixed.known
    JOIN own AS mine ON mine.e = standing.e
    JOIN own AS theirs ON theirs.e = standing.known AND theirs.event = mine.event
    GROUP BY standing.e
),
differing AS (
    SELECT standing.e AS e, standing.known AS known, standing.events AS events
    FROM mixed
    JOIN standing ON standing.known = mixed.known
    LEFT JOIN compared ON compared.e = standing.e
    WHERE compared.e IS NULL OR compared.shared < standing.events
),
common AS (
    SELECT mine.e AS e, theirs.e AS other
    FROM differing AS mine
    JOIN differing AS theirs ON theirs.known = mine.known
    JOIN own AS own_events ON own_events.e = mine.e
    JOIN own AS other_events ON other_events.e = theirs.e AND other_events.event = own_events.event
    GROUP BY mine.e, theirs.e, mine.events
    HAVING COUNT(*) = mine.events
),
stood_for AS (
    SELECT standing.e AS e, standing.known AS known
    FROM standing
    LEFT JOIN mixed ON mixed.known = standing.known
    LEFT JOIN compared ON compared.e = standing.e
    WHERE mixed.known IS NULL OR compared.shared = standing.events
    UNION ALL
    SELECT DISTINCT e, FIRST_VALUE(other) OVER (PARTITION BY e ORDER BY other ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM common
),
alike AS (
    SELECT e, known, COUNT(*) OVER (PARTITION BY known) AS persons FROM stood_for
),
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e),
target AS (
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
ruled_out AS (
    SELECT (SELECT COUNT(*) FROM (SELECT spelling FROM (SELECT f(e) AS spelling, n(e) AS is_nested FROM target GROUP BY e, l(e)) AS spelled GROUP BY spelling HAVING COUNT(*) > 1 OR MAX(is_nested) > 0 OR u(spelling) > 0) AS found) + (SELECT COUNT(*) FROM target WHERE u(e) > 0) AS unusable_rows
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
),
answered AS (
SELECT
    classes, table_rows, failing_classes, failing_rows, undecided_classes,
    unusable_rows AS unusable,
    level_k,
    CASE
        WHEN table_rows = 0 OR unusable_rows > 0 THEN 'undecided'
        WHEN finding = 'pass' AND undecided_classes > 0 THEN 'undecided'
        ELSE finding
    END AS verdict
FROM judged
CROSS JOIN ruled_out
)
SELECT
    't_k_5' AS test_id,
    classes AS classes,
    CASE WHEN CAST(level_k AS DOUBLE) > 1.797693134862315E308 THEN 1.797693134862315E308 ELSE CAST(level_k AS DOUBLE) END AS level,
    verdict
FROM answered
