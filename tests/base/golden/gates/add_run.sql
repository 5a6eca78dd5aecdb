/* sqlaudit: add_run */
INSERT INTO store.main.runs (run, finished, accepted, policy, version)
VALUES ($1, CAST($2 AS TIMESTAMP), $3, $4, $5)
