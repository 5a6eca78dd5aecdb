/* sqlaudit: bucket_values */
SELECT
  *
FROM (
  SELECT
    `bucket`,
    `disease`,
    CAST(COUNT(*) AS BIGINT) AS `persons`
  FROM (
    SELECT
      DENSE_RANK() OVER (ORDER BY `age` NULLS LAST, `sex` NULLS LAST) AS `bucket`,
      `disease`
    FROM patients AS released
  ) AS numbered
  GROUP BY
    `bucket`,
    `disease`
) AS counted
ORDER BY
  `bucket` NULLS LAST,
  CAST(`disease` AS STRING) NULLS LAST
