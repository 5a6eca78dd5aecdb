{# For each column the different values of the original and of the synthetic table, NULL apart, and how many both have. #}
{% import "release/synthetic/_stacked.sql" as rows %}
{% for pair in columns %}
SELECT {{ loop.index0 }} AS place, COUNT(CASE WHEN d > 0 THEN 1 END) AS own, COUNT(CASE WHEN s > 0 THEN 1 END) AS there, COUNT(CASE WHEN s > 0 AND d > 0 THEN 1 END) AS shared
FROM (
    {{ rows.counted(pair) }}
) AS {{ "values_" ~ loop.index }}
WHERE c1 IS NOT NULL
{{ "UNION ALL" if not loop.last }}
{% endfor %}
