{# The people of people_alike.sql with the number of their list of combinations, 0 where no one has to be compared: who has
   more than three combinations, and agrees with somebody else who has in all that is known there. #}
WITH company AS (
    SELECT least, most, middle
    FROM {{ alike }} AS alike
    WHERE many
    GROUP BY least, most, middle
    HAVING COUNT(*) > 1
),
compared AS (
    SELECT e
    FROM {{ alike }} AS alike
    SEMI JOIN company USING (least, most, middle)
    WHERE many
),
lists AS (
    SELECT e, LIST(combination ORDER BY combination) AS combinations
    FROM {{ grouped }} AS grouped
    SEMI JOIN compared USING (e)
    GROUP BY e
),
numbered AS (
    SELECT e, DENSE_RANK() OVER (ORDER BY combinations) AS list
    FROM lists
)
SELECT alike.*, COALESCE(list, 0) AS list
FROM {{ alike }} AS alike
LEFT JOIN numbered ON alike.e = numbered.e
