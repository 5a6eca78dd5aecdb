{# A release: every quasi-identifier at its level, the other columns as they are. Classes that fail are left out, or
   all their quasi-identifiers become *. `short` says how these are found: by their size, or by facts of theirs; empty when
   there are none. With `numbers` the statement ends where classes have numbers. With `ordered` rows come in the order of
   what is published, so that their order says nothing of the table's. What is counted by size is materialized on DuckDB,
   as 1.5.0 makes such a count a join with a copy of its input, which fails for files and frames. #}
WITH given AS (
    SELECT
    {% for column in given %}
        {{ column.expression }} AS {{ column.name }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
),
coarsened AS {{ "MATERIALIZED " if short == "size" and dialect == "duckdb" }}(
    SELECT
    {% for column in coarsened %}
        {{ column.expression }} AS {{ column.name }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ labelled }}
){% if short == "size" %},
counted AS (
    SELECT coarsened.*, CAST(COUNT(*) OVER ({{ "PARTITION BY " ~ keys | join(", ") if keys }}) AS BIGINT) AS size
    FROM coarsened
),
flagged AS (
    SELECT counted.*, CASE WHEN {{ condition }} THEN 1 ELSE 0 END AS {{ flag }}
    FROM counted
){% elif short == "facts" %},
numbered AS MATERIALIZED (
    SELECT
        coarsened.*
    {% for name, expressions in classes %}
        , {{ "DENSE_RANK() OVER (ORDER BY " ~ expressions | join(", ") ~ ")" if expressions else "1" }} AS {{ name }}
    {% endfor %}
    FROM coarsened
){% if not numbers %},
flagged AS (
    SELECT
        numbered.*,
        CASE
        {% for name, failing in failing %}
            WHEN {{ name }} IN (SELECT class_number FROM {{ failing }} AS failing_{{ loop.index }}) THEN 1
        {% endfor %}
            ELSE 0
        END AS {{ flag }}
    FROM numbered
){% endif %}{% endif %}

{% if numbers %}
SELECT *
FROM numbered
{% else %}
{% if ordered %}, released AS ({% endif %}
SELECT
{% for column in published %}
    {% if short and star and column.key %}
    CASE WHEN {{ flag }} = 1 THEN '*' ELSE CAST({{ column.name }} AS VARCHAR) END AS {{ column.name }}{{ "," if not loop.last }}
    {% else %}
    {{ column.name }}{{ "," if not loop.last }}
    {% endif %}
{% endfor %}
FROM {{ "flagged" if short else "coarsened" }}
{% if short and not star %}
WHERE {{ flag }} = 0
{% endif %}
{% if ordered %}
)
SELECT *
FROM released
ORDER BY
{% for column in published %}
    CAST({{ column.name }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{{ "," if not loop.last }}
{% endfor %}
{% endif %}
{% endif %}
