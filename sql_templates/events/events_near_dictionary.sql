{# Events by number again, from the fewest persons who fit one to the most. #}
SELECT
    known,
    persons,
    CAST(ROW_NUMBER() OVER (ORDER BY persons, known) AS INTEGER) AS event,
    CAST(NULL AS INTEGER) AS repeated
FROM (SELECT known, COUNT(*) AS persons FROM {{ fitting }} GROUP BY known) AS counted
