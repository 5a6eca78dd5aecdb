{# The blocks of a table, safe ones and others, with what decides them. #}
{% import "cubes/_blocks.sql" as cube %}
WITH {{ cube.judged(source, dimensions, coarsened, joins, entity, holding, measures, top, known, checks, dialect) }}
SELECT *
FROM judged
