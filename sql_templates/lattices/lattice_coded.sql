{# The rows of a table with the codes of its quasi-identifiers: k0, k1, … the words of the key, z0, z1, … up to which
   level a column's label is missing, o1, o2, … what is kept as it is, e the entity,
   row_number, where asked for, a number for each row (rows that agree in everything may swap theirs). Where the engine keeps the codes they
   are joined by value; elsewhere the values are numbered inside the database and the numbers looked up. #}
{% import "hierarchies/_hierarchy.sql" as dictionary with context %}
WITH target AS {{ "NOT MATERIALIZED" if dialect == "duckdb" }} (
    SELECT
    {% for column in columns %}
        {{ column.sql }} AS q{{ loop.index0 }},
    {% endfor %}
    {% for other in others %}
        {{ other }} AS o{{ loop.index }},
    {% endfor %}
        {{ entity if entity is not none else "NULL" }} AS e
    FROM {{ source }}
)
{% for column in columns if column.numbers %}
, codes_{{ column.position }} AS MATERIALIZED (
    SELECT seen.v, codes.*
    FROM (
        SELECT v, ROW_NUMBER() OVER (ORDER BY {{ dictionary.order_of("v", column.kind) }} NULLS LAST) - 1 AS number
        FROM (
            {% for value, relation in column.listed %}
            SELECT {{ value }} AS v FROM {{ relation }}{{ " UNION" if not loop.last }}

            {% endfor %}
            {% if column.listed | length == 1 %}
            GROUP BY {{ column.listed[0][0] }}
            {% endif %}
        ) AS listed
    ) AS seen
    JOIN (
        VALUES {% for row in column.numbers %}({{ row | join(", ") }}){{ ", " if not loop.last }}{% endfor %}

    ) AS codes(id{% for word in range(words) %}, k{{ word }}{% endfor %}, z) ON seen.number = codes.id
)
{% endfor %}
SELECT
{% if numbered %}
    ROW_NUMBER() OVER (ORDER BY {% for column in columns %}q{{ loop.index0 }}, {% endfor %}{% for other in others %}o{{ loop.index }}, {% endfor %}e) AS row_number,
{% endif %}
{% for word in range(words) %}
    {% for column in columns %}{% if column.numbers or column.codes is not none %}COALESCE(codes_{{ loop.index0 }}.k{{ word }}, {{ column.missing[word] }}){% else %}{{ column.missing[word] }}{% endif %}{{ " + " if not loop.last }}{% endfor %}{{ "0" if not columns }} AS k{{ word }},
{% endfor %}
{% for column in columns %}
    {{ "codes_" ~ loop.index0 ~ ".z" if column.value == "id" else "CASE WHEN q" ~ loop.index0 ~ " IS NULL THEN " ~ column.missing[words] ~ " ELSE 0 END" }} AS z{{ loop.index0 }},
{% endfor %}
{% for other in others %}
    o{{ loop.index }},
{% endfor %}
    e
FROM target
{% for column in columns %}
    {% if column.numbers %}
LEFT JOIN codes_{{ loop.index0 }} ON target.q{{ loop.index0 }} = codes_{{ loop.index0 }}.v
    {% elif column.codes is not none %}
LEFT JOIN {{ column.codes }} AS codes_{{ loop.index0 }} ON target.q{{ loop.index0 }} = codes_{{ loop.index0 }}.{{ column.value }}
    {% endif %}
{% endfor %}
