/* sqlaudit: standalone */
WITH person_rows AS (
    SELECT
        "clinic" AS q1,
        "person" AS e,
        NULL AS s
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
numbers AS (
    SELECT own.e, people.lonely, COUNT(*) AS events
    FROM own
    JOIN people ON people.e = own.e
    GROUP BY own.e, people.lonely
),
common AS (
    SELECT mine.e AS e, theirs.e AS other, COUNT(*) AS events
    FROM own AS mine
    JOIN own AS theirs ON mine.event = theirs.event
    GROUP BY mine.e, theirs.e
),
alike AS (
    SELECT common.e AS e, MIN(common.other) AS known, COUNT(*) AS persons
    FROM common
    JOIN numbers AS mine ON mine.e = common.e
    JOIN numbers AS theirs ON theirs.e = common.other
    WHERE common.events = mine.events AND common.events = theirs.events AND mine.lonely = 0 AND theirs.lonely = 0
    GROUP BY common.e
),
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e
),
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
