MODEL (name clinic.patients_raw, kind FULL, audits (privacy_of_clinic_patients_raw));

SELECT age, sex, zip, diagnosis FROM clinic.patients;
