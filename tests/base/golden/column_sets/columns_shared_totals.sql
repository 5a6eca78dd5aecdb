/* sqlaudit: columns_shared_totals */
SELECT
    COUNT(*) AS shared,
    SUM(members) AS member_rows,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < 5 THEN members ELSE 0 END) AS at_risk,
    SUM(CAST(members AS HUGEINT) * (members - 1)) AS pairs
FROM patients
