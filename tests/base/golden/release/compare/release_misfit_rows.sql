/* sqlaudit: release_misfit_rows */
SELECT CAST(COALESCE(SUM(pairs.n), 0) AS BIGINT) AS row_total
FROM pairs_of_rows AS pairs
LEFT JOIN cover AS cover_1
    ON pairs.v1 = cover_1.word AND pairs.g1 = cover_1.cell AND cover_1.fits
WHERE pairs.c IS NOT NULL
    AND (cover_1.word IS NULL)
