{# Values of the dimensions that differ from another one in large letters or blanks only. #}
{% import "tabular/_tabular_codes.sql" as codes %}
WITH {{ codes.listed(source, dimensions, [], []) }}
{% for dimension in dimensions %}
, {{ codes.dictionary(loop.index0) }}
{% endfor %}
{% for dimension in dimensions %}
{{ "UNION ALL" if not loop.first }}
SELECT dimension, code
FROM (
    SELECT
        {{ loop.index0 }} AS dimension,
        code,
        COUNT(*) OVER (PARTITION BY LOWER(TRIM(CAST(value AS VARCHAR)))) AS spellings
    FROM dictionary_{{ loop.index0 }}
) AS spelled_{{ loop.index0 }}
WHERE spellings > 1
{% endfor %}
