{# Where two tables are not those of one bucketized release: buckets without values, buckets without persons, buckets
   with another number of persons than of values, rows without a bucket, and counts that are none. #}
WITH of_persons AS (
    SELECT {{ bucket_of_persons }} AS bucket, COUNT(*) AS n
    FROM {{ persons }} AS listed
    GROUP BY {{ bucket_of_persons }}
),
of_values AS (
    SELECT
        {{ bucket }} AS bucket,
        {{ "COUNT(*)" if counted is none else "SUM(" ~ counted ~ ")" }} AS n,
        {{ "0" if counted is none else "COUNT(CASE WHEN " ~ counted ~ " >= 1 THEN NULL ELSE 1 END)" }} AS odd
    FROM {{ values }} AS listed
    GROUP BY {{ bucket }}
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
