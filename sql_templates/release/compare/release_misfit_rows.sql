{# Rows with at least one cell that their value does not lie under. #}
SELECT CAST(COALESCE(SUM(pairs.n), 0) AS BIGINT) AS row_total
FROM {{ source }} AS pairs
{% for cover in covers %}
LEFT JOIN {{ cover }} AS cover_{{ loop.index }}
    ON pairs.v{{ loop.index }} = cover_{{ loop.index }}.word AND pairs.g{{ loop.index }} = cover_{{ loop.index }}.cell AND cover_{{ loop.index }}.fits
{% endfor %}
WHERE pairs.c IS NOT NULL
    AND ({% for cover in covers %}cover_{{ loop.index }}.word IS NULL{{ " OR " if not loop.last }}{% endfor %})
