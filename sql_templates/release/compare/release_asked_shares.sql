{# For each range of each query the cells that can satisfy it, with the share of the original rows under them that do. #}
{% set ranges = [] %}
{% for query in queries %}{% set number = loop.index0 %}{% for part in query.parts %}{% if ranges.append({"query": number, "part": part}) %}{% endif %}{% endfor %}{% endfor %}
{% for one in ranges %}
SELECT
    {{ one.query }} AS query, {{ one.part.place }} AS place, cover.cell,
    CAST(SUM(words.row_count) AS DOUBLE) / MAX(cells.covered_rows) AS share
FROM {{ columns[one.part.place - 1].cover }} AS cover
JOIN {{ columns[one.part.place - 1].words }} AS words ON cover.word = words.id
JOIN {{ columns[one.part.place - 1].cells }} AS cells ON cover.cell = cells.code
WHERE cover.word BETWEEN {{ one.part.low }} AND {{ one.part.high }}
GROUP BY cover.cell
{{ "UNION ALL" if not loop.last }}
{% else %}
SELECT 0 AS query, 0 AS place, 0 AS cell, CAST(0 AS DOUBLE) AS share WHERE FALSE
{% endfor %}
