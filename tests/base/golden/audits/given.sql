/* sqlaudit: given */
SELECT * FROM patients AS given
