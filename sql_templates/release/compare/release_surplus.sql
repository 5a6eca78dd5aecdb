{# Released rows beyond those that the original has of the same sensitive value. #}
SELECT CAST(COALESCE(SUM(GREATEST(released - total, 0)), 0) AS BIGINT) AS surplus
FROM {{ lanes }}
