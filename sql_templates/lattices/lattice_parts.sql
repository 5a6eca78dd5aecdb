{# What losses need to know of every node: its classes, and those that stay when failing ones are suppressed. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, "") }}
SELECT
    id,
    COUNT(*) AS classes,
    COUNT(CASE WHEN NOT ({{ parts.any_of(any) }}) THEN 1 END) AS kept_classes,
    CAST(COALESCE(SUM(CASE WHEN {{ parts.any_of(any) }} THEN n END), 0) AS BIGINT) AS failing_rows,
    COALESCE(SUM(CASE WHEN NOT ({{ parts.any_of(any) }}) THEN CAST(n AS HUGEINT) * n END), 0) AS kept_squares,
    COALESCE(SUM(CASE WHEN NOT ({{ parts.any_of(any) }}) THEN n * LOG2(n) END), 0) AS kept_bits
FROM judged_{{ blocks[-1].position }}
GROUP BY id
