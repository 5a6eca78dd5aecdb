{# Several statements as one, over relations that they share. A full join on FALSE puts answers below each other, each in
   columns of its own and in its own order, in one pass over each. #}
/* sqlaudit: {{ heading }} */
WITH
{% for item, name in shared %}
{{ name }} AS MATERIALIZED
{{ item }},
{% endfor %}
{% for statement in statements %}
answer_{{ loop.index }} AS (
    SELECT 1 AS {{ mark }}, found.*
    FROM (
{{ statement }}
    ) AS found
){{ "," if not loop.last }}
{% endfor %}
SELECT *
FROM answer_1
{% for _ in statements[1:] %}
FULL JOIN answer_{{ loop.index + 1 }} ON FALSE
{% endfor %}
