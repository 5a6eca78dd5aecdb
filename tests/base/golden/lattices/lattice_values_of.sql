/* sqlaudit: lattice_values_of */
SELECT "age" AS v FROM "clinic"."main"."sample"
UNION ALL
SELECT "age" AS v FROM "clinic"."main"."people"
