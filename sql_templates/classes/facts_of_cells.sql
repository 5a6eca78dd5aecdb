{# Facts of classes straight from their cells, as far as no cell has to know the size of its class; with `gap` and `bound`
   what most classes need of the others: the sum of the table's counts of the values that occur, and the largest size
   (over the table's rows) at which some value is more frequent than enhanced beta-likeness allows. `counts` are the macros whose facts are kept as `whole`, in which
   counts of this table fit. #}
{% import "classes/_facts.sql" as macros with context %}
WITH all_lanes AS MATERIALIZED (
    SELECT lane, total, 1 / (total * (1 - LN(CAST(total AS DOUBLE) / {{ total }}))) AS reach
    FROM {{ totals }} AS seen
)
SELECT
    id,
    CAST(SUM(c) AS {{ whole }}) AS n
{% if gap %}
    , CAST(SUM(t) AS {{ whole }}) AS present
{% endif %}
{% if bound %}
    , MAX(c * reach) AS bound
{% endif %}
{% for fact in facts %}
    , {{ "CAST(" ~ macros[fact.macro](**fact.arguments) ~ " AS " ~ whole ~ ")" if fact.macro in counts else macros[fact.macro](**fact.arguments) }} AS {{ fact.name }}
{% endfor %}
FROM (
    SELECT cells.id, cells.lane, CAST(cells.c AS {{ whole }}) AS c, all_lanes.total AS t, all_lanes.reach
    FROM {{ cells }} AS cells
    JOIN all_lanes ON cells.lane = all_lanes.lane
) AS long
GROUP BY id
