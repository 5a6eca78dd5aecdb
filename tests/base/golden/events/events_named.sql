/* sqlaudit: events_named */
SELECT
    c0 AS "zip",
    s0 AS "sex"
FROM (SELECT 1 AS c0, 2 AS s0) AS joined
