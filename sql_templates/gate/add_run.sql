INSERT INTO runs (run, finished, accepted, policy, version)
VALUES ($1, CAST($2 AS TIMESTAMPTZ), $3, $4, $5)
