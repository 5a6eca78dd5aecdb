/* sqlaudit: lattice_places */
SELECT
    dictionary.*,
    DENSE_RANK() OVER (PARTITION BY l1 ORDER BY id) - 1 AS x0
FROM "test_dictionary_0" AS dictionary
