/* sqlaudit: buckets */
SELECT spread."room", spread."disease"
FROM (
    SELECT
        listed.*,
        SUM("persons") OVER (PARTITION BY "room" ORDER BY "room" ROWS UNBOUNDED PRECEDING) AS sqlaudit_last_place
    FROM patients AS listed
) AS spread
INNER JOIN (
    SELECT
        "room" AS bucket_of_person,
        ROW_NUMBER() OVER (PARTITION BY "room" ORDER BY "room") AS place
    FROM patients AS listed
) AS person
    ON person.bucket_of_person = spread."room"
    AND person.place <= spread.sqlaudit_last_place
    AND person.place > spread.sqlaudit_last_place - spread."persons"
