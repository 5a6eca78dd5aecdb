/* sqlaudit: cloak_audited */
SELECT person, x_min, x_max, y_min, y_max, t_min, t_max
FROM patients
WHERE outcome = 0
