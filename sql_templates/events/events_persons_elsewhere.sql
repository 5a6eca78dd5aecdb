{# Persons with events who are missing in the table of persons, and persons of that table with several different rows. #}
SELECT
    (
        SELECT COUNT(*)
        FROM (SELECT DISTINCT e FROM {{ events }} AS visits WHERE e IS NOT NULL) AS events
        LEFT JOIN (SELECT DISTINCT e FROM {{ persons }} AS everybody) AS persons ON persons.e = events.e
        WHERE persons.e IS NULL
    ) AS missing,
    (
        SELECT COUNT(*) FROM (SELECT e FROM {{ persons }} AS everybody GROUP BY e HAVING COUNT(*) > 1) AS repeated
    ) AS several
