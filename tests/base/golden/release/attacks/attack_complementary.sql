/* sqlaudit: attack_complementary */
WITH my_cells AS MATERIALIZED (
    SELECT m1, COUNT(*) AS n
    FROM (
        SELECT
            COALESCE('=' || CAST("zip" AS VARCHAR), '') AS m1,
            1 AS one
        FROM patients
    ) AS released
    GROUP BY m1, one
),
their_cells AS MATERIALIZED (
    SELECT m1, COUNT(*) AS n
    FROM (
        SELECT
            COALESCE('=' || CAST("zip" AS VARCHAR), '') AS m1,
            1 AS one
        FROM patients
    ) AS released
    GROUP BY m1, one
),
my_numbered AS MATERIALIZED (SELECT DENSE_RANK() OVER (ORDER BY m1) AS id, my_cells.* FROM my_cells),
their_numbered AS MATERIALIZED (SELECT DENSE_RANK() OVER (ORDER BY m1) AS id, their_cells.* FROM their_cells),
all_values AS MATERIALIZED (
    SELECT
        side, id, n, 1 AS v,
        CAST(SUM(CASE WHEN side = 1 THEN n ELSE 0 END) OVER () AS BIGINT) AS total
    FROM (
        SELECT 1 AS side, id, n FROM my_numbered
        UNION ALL
        SELECT 2 AS side, id, n FROM their_numbered
    ) AS both_sides
),
my_classes AS MATERIALIZED (
    SELECT m1, id, CAST(SUM(n) AS BIGINT) AS size, COUNT(*) AS kinds
    FROM my_numbered
    GROUP BY m1, id
),
their_classes AS MATERIALIZED (
    SELECT m1, id, CAST(SUM(n) AS BIGINT) AS size, COUNT(*) AS kinds
    FROM their_numbered
    GROUP BY m1, id
),

class_pairs AS MATERIALIZED (
    SELECT mine.id AS my_id, theirs.id AS their_id, mine.size AS my_size, theirs.size AS their_size, mine.kinds AS my_kinds, theirs.kinds AS their_kinds
    FROM their_classes AS theirs
JOIN my_classes AS mine ON mine.m1 = theirs.m1


),
my_values AS MATERIALIZED (SELECT id, v, n, total FROM all_values WHERE side = 1),
their_values AS MATERIALIZED (SELECT id, v, n FROM all_values WHERE side = 2),
joined AS MATERIALIZED (
    SELECT
        my_id, their_id, MAX(my_size) AS my_size, MAX(their_size) AS their_size, MAX(my_kinds) AS my_kinds,
        MAX(their_kinds) AS their_kinds, COUNT(*) AS kinds,
        SUM(LEAST(my_values.n, their_values.n)) AS most,
        SUM(GREATEST(0, my_values.n + their_values.n - total)) AS least
    FROM class_pairs
    JOIN my_values ON class_pairs.my_id = my_values.id
    JOIN their_values ON class_pairs.their_id = their_values.id AND my_values.v = their_values.v
    GROUP BY my_id, their_id
)
SELECT
    COUNT(*) AS classes,
    CAST(COALESCE(SUM(CASE WHEN most < 5 THEN 1 ELSE 0 END), 0) AS BIGINT) AS below_k,
    CAST(COALESCE(SUM(CASE WHEN most < 5 THEN most ELSE 0 END), 0) AS BIGINT) AS at_most,
    CAST(COALESCE(SUM(CASE WHEN most < 5 THEN least ELSE 0 END), 0) AS BIGINT) AS at_least,
    CAST(COALESCE(SUM(CASE WHEN most < 5 AND my_size >= 5 AND their_size >= 5 THEN 1 ELSE 0 END), 0) AS BIGINT) AS newly_below_k,
    CAST(COALESCE(SUM(CASE WHEN most < 5 AND my_size >= 5 AND their_size >= 5 THEN most ELSE 0 END), 0) AS BIGINT) AS newly_at_most,
    CAST(COALESCE(SUM(CASE WHEN most < 5 AND my_size >= 5 AND their_size >= 5 THEN least ELSE 0 END), 0) AS BIGINT) AS newly_at_least,
    0 AS revealed,
    CAST(COALESCE(SUM(CASE WHEN kinds = 1 AND my_kinds > 1 AND their_kinds > 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS newly_revealed,
    CAST(MIN(most) AS BIGINT) AS smallest
FROM joined
