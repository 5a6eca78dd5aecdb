{# For every class a number in which bit i is set if it fails check i; each class has an id of its own. #}
{% import "lattices/_lattice.sql" as parts with context %}
WITH {{ parts.judged(grouped, blocks, "") }}
SELECT
    CAST(id AS BIGINT) AS id,
    CAST({% for name in checks %}CASE WHEN {{ name }} THEN {{ 2 ** loop.index0 }} ELSE 0 END{{ " + " if not loop.last }}{% endfor %}{{ "0" if not checks }} AS BIGINT) AS failing
FROM judged_{{ blocks[-1].position }}
