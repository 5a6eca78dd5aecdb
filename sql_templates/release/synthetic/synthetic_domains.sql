{# How many codes each column needs in `synthetic_coded.sql`: one for every value in any of the tables, and 0 for NULL. #}
{% import "release/synthetic/_stacked.sql" as rows %}
SELECT {% for _ in sides[0].columns %}1 + COUNT(DISTINCT c{{ loop.index }}){{ ", " if not loop.last }}{% endfor %}

FROM (
    {{ rows.stacked(sides) }}
) AS stacked
