/* What was accepted last for each test; an accepted run of a selection replaces the tests that it holds. */
WITH accepted_results AS (
    SELECT
        results.*,
        ROW_NUMBER() OVER (
            PARTITION BY results.table_name, results.requirement, results.sensitive
            ORDER BY results.run DESC
        ) AS recency
    FROM store.main.results
    INNER JOIN store.main.runs ON results.run = runs.run
    WHERE runs.accepted
)

SELECT
    table_name, requirement, sensitive, falls_short, level, failing_classes, failing_rows, table_rows, column_sets, asked
FROM accepted_results
WHERE recency = 1
ORDER BY table_name, requirement, sensitive
