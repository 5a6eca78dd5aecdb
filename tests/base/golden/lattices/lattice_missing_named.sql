/* sqlaudit: lattice_missing_named */
SELECT COUNT(*) AS named
FROM (    
    SELECT 1 AS one
    FROM patients AS dictionary
    WHERE dictionary.key IS NULL
      AND (dictionary.l1 IS NOT NULL)) AS columns_that_name_them
