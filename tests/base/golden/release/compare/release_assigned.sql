/* sqlaudit: release_assigned */
SELECT
    original.* EXCLUDE (c),
    COALESCE(inside.c, suppressed.key) AS c,
    classes.g1
FROM patients AS original
JOIN patients AS placed ON original.q = placed.key
LEFT JOIN patients AS inside ON placed.a = inside.a
LEFT JOIN (SELECT key FROM patients WHERE is_whole) AS suppressed ON TRUE
LEFT JOIN patients AS classes ON COALESCE(inside.c, suppressed.key) = classes.key
