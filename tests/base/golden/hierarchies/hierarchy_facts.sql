/* sqlaudit: hierarchy_facts */
WITH
groups_0 AS (
    SELECT
        SUM(row_count) AS row_count,
        SUM(CASE WHEN key IS NOT NULL AND key IS NULL THEN 1 ELSE 0 END) AS uncovered_values,
        SUM(CASE WHEN key IS NOT NULL AND key IS NULL THEN row_count ELSE 0 END) AS uncovered_rows
        , CASE WHEN COUNT(DISTINCT l1) + MAX(CASE WHEN l1 IS NULL THEN 1 ELSE 0 END) > 1 THEN 1 ELSE 0 END AS split
    FROM "test_dictionary_0"
    GROUP BY key
),
groups_1 AS (
    SELECT
        SUM(row_count) AS row_count,
        SUM(CASE WHEN key IS NOT NULL AND l1 IS NULL THEN 1 ELSE 0 END) AS uncovered_values,
        SUM(CASE WHEN key IS NOT NULL AND l1 IS NULL THEN row_count ELSE 0 END) AS uncovered_rows
        , 0 AS split
    FROM "test_dictionary_0"
    GROUP BY l1
)
SELECT
    0 AS level,
    COUNT(*) AS group_count,
    COALESCE(MIN(row_count), 0) AS smallest,
    COALESCE(MAX(row_count), 0) AS largest,
    COALESCE(SUM(row_count), 0) AS rows_in_all,
    COALESCE(SUM(uncovered_values), 0) AS uncovered_values,
    COALESCE(SUM(uncovered_rows), 0) AS uncovered_rows,
    COALESCE(SUM(split), 0) AS split_groups
FROM groups_0
UNION ALL
SELECT
    1 AS level,
    COUNT(*) AS group_count,
    COALESCE(MIN(row_count), 0) AS smallest,
    COALESCE(MAX(row_count), 0) AS largest,
    COALESCE(SUM(row_count), 0) AS rows_in_all,
    COALESCE(SUM(uncovered_values), 0) AS uncovered_values,
    COALESCE(SUM(uncovered_rows), 0) AS uncovered_rows,
    COALESCE(SUM(split), 0) AS split_groups
FROM groups_1

ORDER BY level
