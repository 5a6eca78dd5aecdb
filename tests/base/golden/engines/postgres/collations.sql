/* sqlaudit: collations */
SELECT
    COALESCE(
        (
            SELECT NOT collisdeterministic
            FROM pg_collation
            WHERE pg_collation.oid = pg_collation_for(target."sex")::REGCOLLATION
        ),
        FALSE
    )
FROM (SELECT 1) AS one
LEFT JOIN (
    SELECT "age", "sex" FROM "public"."commands"
) AS target ON FALSE
