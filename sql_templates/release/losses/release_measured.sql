{# Blocks with their distance from the original's mixture of sensitive values, and with the region that they cover. #}
SELECT blocks.key, blocks.n{{ ", distances.deviation" if distances else ", CAST(0 AS HUGEINT) AS deviation" }}{{ ", GREATEST(regions.region, regions.n) AS region" if regions }}
FROM {{ blocks }} AS blocks
{% if distances %}
JOIN {{ distances }} AS distances ON blocks.lanes = distances.lanes AND blocks.n = distances.n
{% endif %}
{% if regions %}
JOIN {{ regions }} AS regions ON blocks.key = regions.key
{% endif %}
