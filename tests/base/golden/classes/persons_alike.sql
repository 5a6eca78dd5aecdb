/* sqlaudit: persons_alike */
WITH target AS NOT MATERIALIZED (
    SELECT
        "clinic" AS q1,
        "person" AS e,
        "disease" AS s
    FROM "hospital"."main"."visits"
),
numbered AS (
    SELECT e, DENSE_RANK() OVER (ORDER BY q1) AS combination
    FROM (SELECT DISTINCT q1, e FROM target) AS combinations
),
lists AS (
    SELECT e, LIST(combination ORDER BY combination) AS known
    FROM numbered
    GROUP BY e
),
alike AS (
    SELECT e, DENSE_RANK() OVER (ORDER BY known) AS known FROM lists
)
SELECT alike.known, target.e, target.s
FROM target
JOIN alike ON target.e = alike.e
