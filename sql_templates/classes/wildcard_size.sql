{# How many cells there are to be matched, under how many masks. #}
SELECT COUNT(*) AS cells, COALESCE(MAX(mask), 0) AS masks
FROM {{ coded }}
