{# Facts for which every cell has to know the size of its class, of the classes that a condition names. #}
{% import "classes/_facts.sql" as macros with context %}
{% import "classes/_cells.sql" as listed with context %}
{% import "classes/_facts_relation.sql" as relation with context %}
WITH class AS NOT MATERIALIZED (
    SELECT id, CAST(n AS BIGINT) AS n
    FROM {{ known }} AS known
    WHERE {{ condition }}
),
long AS NOT MATERIALIZED (
    SELECT cells.id, class.n, class.n AS size, 1 AS classes, class.n AS table_rows, cells.lane, cells.c
    FROM {{ cells }} AS cells
    JOIN class ON cells.id = class.id
),
{{ listed.preparations(totals) -}}
folded AS NOT MATERIALIZED (
    SELECT
        long.id
    {% for fact in facts %}
        , {{ relation.widened(fact, macros[fact.macro](**fact.arguments)) }} AS {{ fact.name }}
    {% endfor %}
    FROM {{ listed.source() }}
    GROUP BY long.id, long.n
)
SELECT *
FROM folded
