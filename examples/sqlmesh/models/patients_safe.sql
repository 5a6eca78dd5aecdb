MODEL (name clinic.patients_safe, kind FULL, audits (privacy_of_clinic_patients_safe));

SELECT
  CASE WHEN age < 50 THEN '0-49' ELSE '50-99' END AS age_group,
  SUBSTRING(zip, 1, 2) AS region,
  diagnosis
FROM clinic.patients;
