MODEL (name clinic.patients, kind SEED (path '$root/../dbt/seeds/patients.csv'), columns (age INT, sex TEXT, zip TEXT, diagnosis TEXT, days INT));
