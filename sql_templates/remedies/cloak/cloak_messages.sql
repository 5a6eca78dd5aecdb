{# Every message with the box in space and time that it is published with, or the reason why it is dropped.
   The boxes are cells of a grid whose levels divide the largest cell again and again. From the finest level upwards, a
   cell decides whether its messages stay in the boxes that were found inside it, or share the cell as their box: the
   second, when fewer would be published in the finer boxes. A cell can be a box for the messages that tolerate it, as long
   as these come from as many different users as each of them asks for. Boxes never overlap.
   `tried` are the levels at which some cell has enough users; finer ones need not be looked at. With `reach` the statement
   ends with the most users of a cell of that level.
   outcome: 0 published, 1 something is missing, 2 no place or time, 3 tolerates no cell, 4 too few users, 5 given up for
   finer boxes of others. #}
{% import "remedies/cloak/_cloak.sql" as grid with context %}
WITH given AS (
    SELECT
        {{ person }} AS person,
        {{ x }} AS x,
        {{ y }} AS y,
        {{ grid.microseconds(t) if timestamps else t }} AS t,
        CASE WHEN {{ person }} IS NULL OR {{ x }} IS NULL OR {{ y }} IS NULL OR {{ t }} IS NULL THEN 1 ELSE 0 END AS is_missing,
        {{ "GREATEST(CAST(" ~ k ~ " AS BIGINT), COALESCE(CAST(" ~ own_k ~ " AS BIGINT), 0))" if own_k else k }} AS k,
        {% if own_box or own_interval %}
        CASE
        {% for level in levels %}
            WHEN {{ "(" ~ own_box ~ " IS NULL OR " ~ own_box ~ " >= " ~ level.side ~ ")" if own_box else "" }}
                {{ "AND" if own_box and own_interval }}
                {{ "(" ~ own_interval ~ " IS NULL OR " ~ own_interval ~ " >= " ~ level.seconds ~ ")" if own_interval else "" }}
            THEN {{ loop.index0 }}
        {% endfor %}
            ELSE {{ levels | length }}
        END AS first_level
        {%- else %}
        0 AS first_level
        {%- endif %}
    {% for column in carried %}
        , {{ column }} AS c{{ loop.index }}
    {% endfor %}
    FROM {{ source }}
),
{% if globe %}
banded AS (
    SELECT
        given.*,
        CASE
            WHEN y >= -90 AND y <= 90 AND x >= -180 AND x <= 180
            THEN CAST(FLOOR({{ grid.as_double("y", y_kind) }} * CAST({{ globe.metres }} AS DOUBLE) / CAST({{ finest.side }} AS DOUBLE)) AS BIGINT)
        END AS iy
    FROM given
),
parted AS (
    SELECT banded.*, {{ grid.parts_of("(iy >> " ~ levels[0].space ~ ")") }} AS parts
    FROM banded
),
{% endif %}
placed AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS number, person, is_missing, k, first_level,
    {% if globe %}
        iy, parts,
        CASE
            WHEN iy IS NOT NULL
            THEN CAST(FLOOR(({{ grid.as_double("x", x_kind) }} + 180) / 360 * (parts * {{ globe.finest_parts }})) AS BIGINT) % (parts * {{ globe.finest_parts }})
        END AS ix,
    {% else %}
        {{ grid.cell_of("x", x_kind, finest.side, limit) }} AS ix,
        {{ grid.cell_of("y", y_kind, finest.side, limit) }} AS iy,
    {% endif %}
    {% if timestamps %}
        {{ grid.floor_div("t", finest.length) }} AS it
    {%- else %}
        {{ grid.cell_of("t", t_kind, finest.length, limit) }} AS it
    {%- endif %}
    {% for column in carried %}
        , c{{ loop.index }}
    {% endfor %}
    FROM {{ "parted" if globe else "given" }}
),
chosen_{{ tried | length }} AS (
    SELECT number, person, k, first_level, ix, iy, it, 0 AS is_kept, 0 AS could_be, 0 AS level
    FROM placed
    WHERE is_missing = 0 AND ix IS NOT NULL AND iy IS NOT NULL AND it IS NOT NULL AND first_level < {{ levels | length }}
){% if reach %}

SELECT COALESCE(MAX(users), 0) AS most_users
FROM (SELECT COUNT(DISTINCT person) AS users FROM chosen_{{ tried | length }} GROUP BY {{ grid.cell(reach) }}) AS cells
{% else %},
{% for level in tried | reverse %}
{% set number = tried | length - loop.index %}
{% set tolerated = "first_level <= " ~ number if number < levels | length - 1 and (own_box or own_interval) else "" %}
named_{{ number }} AS (
    SELECT
        chosen_{{ number + 1 }}.*,
        CASE
            WHEN {{ tolerated ~ " AND " if tolerated }}ROW_NUMBER() OVER (
                PARTITION BY {{ grid.cell(level) }}, person{{ ", CASE WHEN " ~ tolerated ~ " THEN 1 ELSE 0 END" if tolerated }}
                ORDER BY {{ "k" if own_k else "person" }}
            ) = 1 THEN 1
            ELSE 0
        END AS is_new_user
    FROM chosen_{{ number + 1 }}
),
counted_{{ number }} AS (
    SELECT
        named_{{ number }}.*,
    {% if not own_k %}
        SUM({{ "CASE WHEN " ~ tolerated ~ " THEN 1 ELSE 0 END" if tolerated else "1" }}) OVER (PARTITION BY {{ grid.cell(level) }}) AS tolerant,
        SUM(is_kept) OVER (PARTITION BY {{ grid.cell(level) }}) AS finer,
    {% endif %}
        SUM(is_new_user) OVER (PARTITION BY {{ grid.cell(level) }}{{ " ORDER BY k" if own_k }}) AS users
    FROM named_{{ number }}
),
{% if own_k %}
granted_{{ number }} AS (
    SELECT
        counted_{{ number }}.*,
        MAX(CASE WHEN {{ tolerated ~ " AND " if tolerated }}users >= k THEN k END) OVER (PARTITION BY {{ grid.cell(level) }}) AS granted
    FROM counted_{{ number }}
),
shared_{{ number }} AS (
    SELECT
        granted_{{ number }}.*,
        CASE WHEN {{ tolerated ~ " AND " if tolerated }}k <= granted THEN 1 ELSE 0 END AS can_share
    FROM granted_{{ number }}
),
weighed_{{ number }} AS (
    SELECT
        shared_{{ number }}.*,
        SUM(can_share) OVER (PARTITION BY {{ grid.cell(level) }}) AS sharing,
        SUM(is_kept) OVER (PARTITION BY {{ grid.cell(level) }}) AS finer
    FROM shared_{{ number }}
),
{% else %}
weighed_{{ number }} AS (
    SELECT
        counted_{{ number }}.*,
        CASE WHEN {{ tolerated ~ " AND " if tolerated }}users >= k THEN 1 ELSE 0 END AS can_share,
        CASE WHEN users >= k THEN tolerant ELSE 0 END AS sharing
    FROM counted_{{ number }}
),
{% endif %}
chosen_{{ number }} AS (
    SELECT
        number, person, k, first_level, ix, iy, it,
        CASE WHEN {{ stays }} THEN is_kept ELSE can_share END AS is_kept,
        GREATEST(could_be, can_share) AS could_be,
        CASE WHEN {{ stays }} THEN level ELSE {{ number }} END AS level
    FROM weighed_{{ number }}
),
{% endfor %}
boxed AS (
    SELECT
        placed.*, is_kept, could_be,
        CASE WHEN is_kept = 1 THEN level END AS level,
        CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN placed.ix >> {{ level.space }} {% endfor %}END AS box_x,
        CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN placed.iy >> {{ level.space }} {% endfor %}END AS box_y,
        CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN placed.it >> {{ level.time }} {% endfor %}END AS box_t,
    {% if globe %}
        parts * CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN {{ level.divisions }} {% endfor %}END AS box_parts,
    {% endif %}
        CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN CAST({{ level.side }} AS DOUBLE) {% endfor %}END AS box_side,
        CASE level {% for level in tried %}WHEN {{ loop.index0 }} THEN CAST({{ level.length }} AS {{ "BIGINT" if timestamps else "DOUBLE" }}) {% endfor %}END AS box_length
    FROM placed
    LEFT JOIN chosen_0 ON placed.number = chosen_0.number
)

SELECT
    boxed.person AS person,
    boxed.k AS k,
    level,
    CASE
        WHEN is_kept = 1 THEN 0
        WHEN is_missing = 1 THEN 1
        WHEN boxed.ix IS NULL OR boxed.iy IS NULL OR boxed.it IS NULL THEN 2
        WHEN boxed.first_level >= {{ levels | length }} THEN 3
        WHEN could_be = 0 THEN 4
        ELSE 5
    END AS outcome,
{% if globe %}
    CASE WHEN is_kept = 1 THEN -180 + CAST(360 * box_x AS DOUBLE) / box_parts END AS x_min,
    CASE WHEN is_kept = 1 THEN -180 + CAST(360 * (box_x + 1) AS DOUBLE) / box_parts END AS x_max,
    CASE WHEN is_kept = 1 THEN GREATEST(CAST(-90 AS DOUBLE), box_y * box_side / CAST({{ globe.metres }} AS DOUBLE)) END AS y_min,
    CASE WHEN is_kept = 1 THEN LEAST(CAST(90 AS DOUBLE), (box_y + 1) * box_side / CAST({{ globe.metres }} AS DOUBLE)) END AS y_max,
{% else %}
    CASE WHEN is_kept = 1 THEN box_x * box_side END AS x_min,
    CASE WHEN is_kept = 1 THEN (box_x + 1) * box_side END AS x_max,
    CASE WHEN is_kept = 1 THEN box_y * box_side END AS y_min,
    CASE WHEN is_kept = 1 THEN (box_y + 1) * box_side END AS y_max,
{% endif %}
    CASE WHEN is_kept = 1 THEN {{ grid.timestamp_of("(box_t * box_length)") if timestamps else "box_t * box_length" }} END AS t_min,
    CASE WHEN is_kept = 1 THEN {{ grid.timestamp_of("((box_t + 1) * box_length)") if timestamps else "(box_t + 1) * box_length" }} END AS t_max
{% for column in carried %}
    , boxed.c{{ loop.index }} AS c{{ loop.index }}
{% endfor %}
FROM boxed
{% endif %}
