{# What is left of the sensitive values for persons whose releases are known: how many persons have so many values left, by
   the fewest values of one of their classes, whether all their classes have the same ones, whether they are in several
   releases, and the round in which one value was left. #}
{% import "release/series/_series.sql" as parts with context %}
WITH {{ parts.told(releases, rounds, kept) }},
people AS (
    SELECT
        path, MAX(persons) AS persons, MAX(span) AS span, COUNT(*) AS places, MAX(alone) AS alone,
        MAX(steady) AS steady, MAX(known) AS known
    FROM told
    GROUP BY path
)
SELECT
    alone, steady, CASE WHEN span > 1 THEN 1 ELSE 0 END AS several, CAST(places / span AS BIGINT) AS candidates, known,
    CAST(SUM(persons) AS BIGINT) AS persons
FROM people
GROUP BY alone, steady, CASE WHEN span > 1 THEN 1 ELSE 0 END, CAST(places / span AS BIGINT), known
ORDER BY candidates, alone, steady, several, known
