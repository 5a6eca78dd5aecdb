/* sqlaudit: release_homes */
WITH
home_1 AS (
    SELECT cover.word, cover.cell
    FROM patients AS cover
    JOIN (SELECT DISTINCT g1 AS cell FROM patients WHERE NOT is_whole) AS used
        ON cover.cell = used.cell
)
SELECT tuples.key AS a, classes.key AS c
FROM patients AS tuples
JOIN home_1 ON tuples.v1 = home_1.word
JOIN patients AS classes
    ON classes.g1 = home_1.cell
WHERE NOT classes.is_whole
