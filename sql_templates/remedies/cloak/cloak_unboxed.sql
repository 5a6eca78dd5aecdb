{# All messages, and those that lack a bound of their box. #}
SELECT
    COUNT(*) AS messages,
    CAST(COALESCE(SUM(CASE WHEN {% for bound in bounds %}{{ bound }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END), 0) AS BIGINT) AS unboxed
FROM {{ boxes }}
