{# What every node is found to be: one row a node. `any` are the verdicts that make a class fail, `prunable` those of
   them that coarser nodes inherit; a class that several of them name counts once. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, "") }}
SELECT
    id,
    COUNT(*) AS classes,
    MIN(size) AS smallest,
    MIN(CASE WHEN {{ parts.any_of(any) }} THEN NULL ELSE size END) AS smallest_left,
    CAST(COALESCE(SUM(CASE WHEN {{ parts.any_of(any) }} THEN n END), 0) AS BIGINT) AS failing_rows
{% if prunable is not none %}
    , CAST(COALESCE(SUM(CASE WHEN {{ parts.any_of(prunable) }} THEN n END), 0) AS BIGINT) AS prunable_rows
{% endif %}
{% for block in blocks %}
    {% for check in block.checks %}
    , COUNT(CASE WHEN {{ check.name }} THEN 1 END) AS {{ check.name }}_classes
    , CAST(COALESCE(SUM(CASE WHEN {{ check.name }} THEN n END), 0) AS BIGINT) AS {{ check.name }}_rows
    {% if check.doubtful %}
    , COUNT(CASE WHEN {{ check.name }}_doubtful THEN 1 END) AS {{ check.name }}_doubtful
    {% endif %}
    {% endfor %}
{% endfor %}
FROM judged_{{ blocks[-1].position }}
GROUP BY id
