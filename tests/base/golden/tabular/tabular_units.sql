/* sqlaudit: tabular_units */
CAST(CAST("cost" AS DECIMAL(28, 2)) * 100 AS HUGEINT)
