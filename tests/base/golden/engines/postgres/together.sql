/* sqlaudit: together */
/* sqlaudit: sizes, levels */
WITH
sqlaudit_shared_1 AS MATERIALIZED
(SELECT 1 AS n),
answer_1 AS (
    SELECT 1 AS sqlaudit_answer, found.*
    FROM (
SELECT n FROM sqlaudit_shared_1
    ) AS found
),
answer_2 AS (
    SELECT 1 AS sqlaudit_answer, found.*
    FROM (
SELECT MAX(n) FROM sqlaudit_shared_1
    ) AS found
)
SELECT *
FROM answer_1
FULL JOIN answer_2 ON FALSE
