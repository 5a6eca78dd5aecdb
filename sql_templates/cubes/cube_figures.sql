{# What blocks have together: all of them, those of the cube, and those that fail each rule. Uniform blocks meet
   the rules that are required, and everyone with a value of some measure, but those who are known, has the same. #}
{% import "models/_cell_rules.sql" as rules %}
SELECT
    COUNT(*) AS blocks,
    COALESCE(SUM(is_safe), 0) AS kept,
    COALESCE(SUM(n), 0) AS people,
    COALESCE(SUM(CASE WHEN is_safe = 1 THEN n ELSE 0 END), 0) AS kept_people,
    COALESCE(SUM(CASE WHEN is_safe = 1 THEN r ELSE 0 END), 0) AS kept_rows,
    COALESCE(MIN(CASE WHEN is_safe = 1 THEN n END), 0) AS smallest,
    {{ "COALESCE(SUM(CASE WHEN nobody > 0 THEN 1 ELSE 0 END), 0)" if entity else 0 }} AS nobody,
    {% if measures and top %}
    COALESCE(SUM(CASE WHEN {% for _ in measures %}{{ " OR " if not loop.first }}least_{{ loop.index0 }} < 0{% endfor %} THEN 1 ELSE 0 END), 0) AS negative,
    {% else %}
    0 AS negative,
    {% endif %}
    {% if measures %}
    COALESCE(SUM(CASE WHEN {% for number in range(required) %}f{{ number }} = 0 AND {% endfor %}({% for _ in measures %}{{ " OR " if not loop.first }}({{ rules.uniform(known, "_" ~ loop.index0) }}){% endfor %}) THEN 1 ELSE 0 END), 0) AS uniform
    {% else %}
    0 AS uniform
    {% endif %}
    {% for _ in checks %}
    , COALESCE(SUM(f{{ loop.index0 }}), 0) AS failing_{{ loop.index0 }}
    {% endfor %}
FROM {{ source }}
