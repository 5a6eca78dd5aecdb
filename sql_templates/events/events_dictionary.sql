{# Each event once, numbered from the rarest to the most frequent, with the persons who have it, and the number of the
   event that it repeats. #}
WITH counted AS (
    SELECT {{ keys }}, own_row, nth, {{ "COUNT(DISTINCT person)" if sequence else "COUNT(*)" }} AS persons
    FROM {{ occurrences }}
    GROUP BY {{ keys }}, own_row, nth
),
numbered AS (
    SELECT *, CAST(ROW_NUMBER() OVER (ORDER BY persons, {{ keys }}, own_row, nth) AS INTEGER) AS event FROM counted
)
SELECT
    *,
    {{ "LAG(event) OVER (PARTITION BY " ~ keys ~ ", own_row ORDER BY nth)" if repeats else "CAST(NULL AS INTEGER)" }} AS repeated
FROM numbered
