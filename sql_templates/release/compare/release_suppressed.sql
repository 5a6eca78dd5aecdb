{# Released rows whose cells may all be anything. #}
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS suppressed
FROM {{ classes }}
WHERE is_whole
