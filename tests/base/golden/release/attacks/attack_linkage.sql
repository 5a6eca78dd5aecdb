/* sqlaudit: attack_linkage */
WITH released AS NOT MATERIALIZED (
    SELECT
        COALESCE('=' || CAST("zip" AS VARCHAR), '') AS m1,
        CAST("s" AS VARCHAR) AS s0,
        NULL AS who
    FROM patients
),
people AS NOT MATERIALIZED (
    SELECT
        COALESCE('=' || CAST("zip" AS VARCHAR), '') AS m1,
        NULL AS who
    FROM patients
),
row_tuples AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS id, m1, COUNT(*) AS n
        , MIN(s0) AS low_0, MAX(s0) AS high_0, COUNT(s0) AS known_0
    FROM released
    GROUP BY m1
),
people_tuples AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, m1, COUNT(*) AS people
    FROM people
    GROUP BY m1
),

links AS MATERIALIZED (
    SELECT mine.id AS row_id, theirs.id AS person_id, mine.n, theirs.people
        , low_0, high_0, known_0
    FROM people_tuples AS theirs
JOIN row_tuples AS mine ON mine.m1 = theirs.m1


),
row_side AS MATERIALIZED (
    SELECT row_id, MAX(n) AS n, SUM(people) AS people
    FROM links
    GROUP BY row_id
),
person_side AS NOT MATERIALIZED (
    SELECT
        person_id, MAX(links.people) AS people, SUM(links.n) AS candidates, MAX(row_side.people) AS sharing
        , CASE WHEN (MIN(low_0) = MAX(high_0) AND SUM(known_0) = SUM(links.n)) OR SUM(known_0) = 0 THEN 1 ELSE 0 END AS same_0
    FROM links
    JOIN row_side ON links.row_id = row_side.row_id
    GROUP BY person_id
),
everybody AS NOT MATERIALIZED (
    SELECT
        people_tuples.people, COALESCE(candidates, 0) AS candidates, COALESCE(sharing, 0) AS sharing
        , COALESCE(same_0, 0) AS same_0
        , 0 AS known, 0 AS confirmed
    FROM people_tuples
    LEFT JOIN person_side ON people_tuples.id = person_side.person_id
)
SELECT
    'people' AS side, CAST(candidates AS BIGINT) AS size, CAST(SUM(people) AS BIGINT) AS members,
    CAST(SUM(CASE WHEN candidates = 1 AND sharing = 1 THEN people ELSE 0 END) AS BIGINT) AS one_to_one,
    CAST(SUM(known) AS BIGINT) AS known, CAST(SUM(confirmed) AS BIGINT) AS confirmed
    , CAST(SUM(same_0 * people) AS BIGINT) AS same_0
FROM everybody
GROUP BY candidates
UNION ALL
SELECT
    'rows' AS side, CAST(people AS BIGINT) AS size, CAST(SUM(n) AS BIGINT) AS members, 0 AS one_to_one, 0 AS known, 0 AS confirmed
    , 0 AS same_0
FROM row_side
GROUP BY people
