/* sqlaudit: lattice_counted */
SELECT q0, COUNT(*) AS c
FROM (
    SELECT
        zip AS q0,
        1 AS one
    FROM patients
) AS target
GROUP BY q0
