{# Totals of a cube by some of its dimensions, the others NULL: of all rows or, beside judged blocks, of those left out. #}
{% import "cubes/_blocks.sql" as cube %}
WITH {{ cube.judged(source, dimensions, coarsened, joins, entity, holding, measures, top, known, checks, dialect, by, kept) }}
SELECT
    {% for place in places %}d{{ place }}, {% endfor %}
    n,
    CAST(r AS BIGINT) AS all_rows
    {% for _ in measures %}
    , s_{{ loop.index0 }}, CAST(c_{{ loop.index0 }} AS BIGINT) AS v_{{ loop.index0 }}
    {% endfor %}
    , is_safe
FROM judged
