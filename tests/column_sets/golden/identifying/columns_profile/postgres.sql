/* sqlaudit: columns_profile */
SELECT
  COUNT(*) AS total,
  COUNT(*) - COUNT("zip") AS missing_0,
  NULL AS width_0,
  COUNT(*) - COUNT("age") AS missing_1,
  NULL AS width_1,
  COUNT(*) - COUNT("sex") AS missing_2,
  NULL AS width_2
FROM "public"."sets_of_people"
