/* sqlaudit: profile_scan */
SELECT
  COUNT(*) AS row_count,
  COUNT("c1") AS filled_0,
  NULL AS estimate_0
FROM patients
