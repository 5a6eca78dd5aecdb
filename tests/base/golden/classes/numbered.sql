/* sqlaudit: numbered */
SELECT rowid AS id, class.*
FROM patients AS class
