/* sqlaudit: release_measured */
SELECT blocks.key, blocks.n, CAST(0 AS HUGEINT) AS deviation
FROM patients AS blocks
