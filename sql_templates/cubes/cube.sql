{# A cube: its blocks with people and rows, and the sum and the count of each measure. `blocks` is what has judged them
   already; without it they are judged here, from the table. With `ordered` the order of blocks says nothing of the table's. #}
{% import "cubes/_blocks.sql" as cube %}
{% if not blocks %}
WITH {{ cube.judged(source, dimensions, coarsened, joins, entity, holding, measures, top, known, checks, dialect) }}
{% endif %}
SELECT
    {% for name in names %}{{ ", " if not loop.first }}d{{ loop.index0 }} AS {{ name }}{% endfor %},
    n AS people,
    CAST(r AS BIGINT) AS {{ rows }}
    {% for measure in measures %}
    , {{ "CAST(s_" ~ loop.index0 ~ " AS " ~ measure.type ~ ")" if measure.type else "s_" ~ loop.index0 }} AS {{ measure.sum }}
    , CAST(c_{{ loop.index0 }} AS BIGINT) AS {{ measure.count }}
    {% endfor %}
FROM {{ blocks or "judged" }}
WHERE is_safe = 1
{% if ordered %}
ORDER BY {{ cube.keys(names) }}
{% endif %}
