/* sqlaudit: bucket_persons */
SELECT
  *
FROM (
  SELECT
    DENSE_RANK() OVER (ORDER BY `age` NULLS LAST, `sex` NULLS LAST) AS `bucket`,
    `sqlaudit_original_1` AS `age`,
    `id` AS `id`
  FROM patients AS released
) AS persons
ORDER BY
  `bucket` NULLS LAST,
  CAST(`age` AS STRING) NULLS LAST,
  CAST(`id` AS STRING) NULLS LAST
