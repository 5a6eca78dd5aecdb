/* sqlaudit: release_class_losses */
SELECT
    (SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) FROM patients) AS before,
    (SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) FROM patients) AS after,
    (SELECT COUNT(*) FROM patients) AS classes,
    (SELECT CAST(COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS HUGEINT) FROM patients) AS squares,
    (SELECT COALESCE(SUM(n * LOG2(n)), 0) FROM patients) AS tuple_bits,
    (SELECT COALESCE(SUM(n * LOG2(region)), 0) FROM patients) AS region_bits
