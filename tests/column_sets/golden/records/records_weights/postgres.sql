/* sqlaudit: records_weights */
SELECT
  COUNT(*) AS total,
  COUNT(DISTINCT "person") AS persons,
  COUNT(*) - COUNT("person") AS nameless
FROM "public"."sets_of_people"
