/* sqlaudit: lattice_ranked */
SELECT counts.*, codes1.id AS v1, codes2.id AS v2
FROM counts AS counts
JOIN codes_of_age AS codes1 ON counts.k0 & 7 = codes1.k0 AND counts.k1 & 3 = codes1.k1
JOIN codes_of_sex AS codes2 ON TRUE
