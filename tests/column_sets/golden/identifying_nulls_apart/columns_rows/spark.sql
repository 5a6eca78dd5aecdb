/* sqlaudit: columns_rows */
SELECT
  `zip` AS c0,
  `age` AS c1,
  `sex` AS c2
FROM `sqlaudit_view`
