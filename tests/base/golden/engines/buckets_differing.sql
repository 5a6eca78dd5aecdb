/* sqlaudit: buckets_differing */
WITH of_persons AS (
    SELECT "room" AS bucket, COUNT(*) AS n
    FROM patients AS listed
    GROUP BY "room"
),
of_values AS (
    SELECT
        "room" AS bucket,
        SUM("persons") AS n,
        COUNT(CASE WHEN "persons" >= 1 THEN NULL ELSE 1 END) AS odd
    FROM patients AS listed
    GROUP BY "room"
)
SELECT
    COUNT(CASE WHEN of_persons.bucket IS NOT NULL AND of_values.bucket IS NULL THEN 1 END) AS alone,
    COUNT(CASE WHEN of_values.bucket IS NOT NULL AND of_persons.bucket IS NULL THEN 1 END) AS without_persons,
    COUNT(CASE WHEN of_persons.n <> of_values.n THEN 1 END) AS differing,
    COALESCE(SUM(CASE WHEN of_persons.bucket IS NULL AND of_values.bucket IS NULL THEN
        COALESCE(of_persons.n, 0) + COALESCE(of_values.n, 0) END), 0) AS missing,
    COALESCE(SUM(of_values.odd), 0) AS odd
FROM of_persons
FULL OUTER JOIN of_values ON of_persons.bucket = of_values.bucket
