{# Messages in the order of their time, as a broker gets them: who, in which cell, when (microseconds, or a number), for how
   long it may be held back, and the columns that are published. Equal times are ordered by all the rest, so that reading
   again gives the same order. #}
{% import "remedies/cloak/_cloak.sql" as grid with context %}
WITH arrivals AS (
    SELECT
        CAST({{ person }} AS VARCHAR) AS person,
        {{ grid.cell_of(x, x_kind, side, limit) }} AS ix,
        {{ grid.cell_of(y, y_kind, side, limit) }} AS iy,
        {{ grid.microseconds(t) if timestamps else grid.as_double(t, t_kind) }} AS t,
        {{ "CAST(" ~ own_delay ~ " AS DOUBLE)" if own_delay else "CAST(NULL AS DOUBLE)" }} AS own_delay,
        CASE WHEN {{ person }} IS NULL OR {{ x }} IS NULL OR {{ y }} IS NULL OR {{ t }} IS NULL THEN 1 ELSE 0 END AS is_missing
    {% for column in carried %}
        , {{ column }} AS c{{ loop.index }}
    {% endfor %}
    FROM {{ source }} AS messages
)
SELECT is_missing, ix, iy, t, own_delay, person{% for column in carried %}, c{{ loop.index }}{% endfor %}

FROM arrivals
ORDER BY
    t, ix, iy, own_delay, person
{% for column in carried %}
    , CAST(c{{ loop.index }} AS VARCHAR)
{% endfor %}
