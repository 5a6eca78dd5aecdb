/* sqlaudit: release_beside_coded */
SELECT
    COALESCE(own_1.code, 0) AS g1, COALESCE(other_1.code, 0) AS h1,
    seen.n
FROM patients AS seen
LEFT JOIN patients AS own_1 ON seen.g1 = own_1.t
LEFT JOIN patients AS other_1 ON seen.h1 = other_1.t
