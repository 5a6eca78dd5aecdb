{# Rows as numbers: v1, v2, … of the values, g1, g2, … of the cells, s1, … and z1, … of the sensitive values of the
   original and of the release; `q` is one key for all values, `c` one for all cells. NULL where a side is missing. #}
{% set names = [] %}
WITH numbered AS (
    SELECT
        {% for column in columns %}
        {% if with_original %}
        CASE WHEN seen.in_original = 1 THEN CAST(COALESCE(values_{{ loop.index }}.id, {{ column.null_value }}) AS INTEGER) END AS v{{ loop.index }},
        {{- names.append("v" ~ loop.index) or "" }}
        {% endif %}
        {% if with_release %}
        CASE WHEN seen.in_release = 1 THEN COALESCE(cells_{{ loop.index }}.code, 0) END AS g{{ loop.index }},
        {{- names.append("g" ~ loop.index) or "" }}
        {% endif %}
        {% endfor %}
        {% for attribute in sensitive %}
        {% if with_original %}
        CASE WHEN seen.in_original = 1 THEN COALESCE(original_{{ loop.index }}.lane, {{ attribute.null_lane }}) END AS s{{ loop.index }},
        {{- names.append("s" ~ loop.index) or "" }}
        {% endif %}
        {% if with_release %}
        CASE WHEN seen.in_release = 1 THEN COALESCE(released_{{ loop.index }}.lane, {{ attribute.null_lane }}) END AS z{{ loop.index }},
        {{- names.append("z" ~ loop.index) or "" }}
        {% endif %}
        {% endfor %}
        seen.n
    FROM {{ seen }} AS seen
    {% for column in columns %}
    {% if with_original %}
    LEFT JOIN {{ column.words }} AS values_{{ loop.index }} ON {{ "CAST(TRY_CAST(seen.v" ~ loop.index ~ " AS DOUBLE) AS VARCHAR)" if column.by == "float" else "seen.v" ~ loop.index }} = values_{{ loop.index }}.{{ "v" if column.by == "v" else "key" }}
    {% endif %}
    {% if with_release %}
    LEFT JOIN {{ column.cells }} AS cells_{{ loop.index }} ON seen.g{{ loop.index }} = cells_{{ loop.index }}.t
    {% endif %}
    {% endfor %}
    {% for attribute in sensitive %}
    {% if with_original %}
    LEFT JOIN {{ attribute.lanes }} AS original_{{ loop.index }} ON seen.s{{ loop.index }} = original_{{ loop.index }}.t
    {% endif %}
    {% if with_release %}
    LEFT JOIN {{ attribute.lanes }} AS released_{{ loop.index }} ON seen.z{{ loop.index }} = released_{{ loop.index }}.t
    {% endif %}
    {% endfor %}
),
counted AS (
    SELECT {{ names | join(", ") }}, CAST(SUM(n) AS BIGINT) AS n
    FROM numbered
    GROUP BY {{ names | join(", ") }}
)
SELECT
    {{ value_key if with_original else "CAST(NULL AS BIGINT)" }} AS q,
    {{ cell_key if with_release else "CAST(NULL AS BIGINT)" }} AS c,
    {{ names | join(", ") }},
    n
FROM counted
