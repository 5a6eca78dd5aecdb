/* sqlaudit: drift */
/* Every test through the last runs, the newest run first. */
WITH last_runs AS (
    SELECT run, finished, accepted
    FROM store.main.runs
    ORDER BY run DESC
    LIMIT $1
)

SELECT
    results.table_name, results.requirement, results.sensitive, last_runs.run,
    strftime(last_runs.finished, '%Y-%m-%d %H:%M UTC') AS finished, last_runs.accepted,
    results.outcome, results.level, results.failing_rows, results.table_rows
FROM store.main.results
INNER JOIN last_runs ON results.run = last_runs.run
ORDER BY results.table_name, results.requirement, results.sensitive, last_runs.run DESC
