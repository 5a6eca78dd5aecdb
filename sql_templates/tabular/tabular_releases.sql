{# Several tables of cells, one after the other; e is the number of the table that a cell is from. #}
{% for release in releases %}
{{ "UNION ALL" if not loop.first }}
SELECT
    CAST({{ loop.index0 }} AS INTEGER) AS e
    {% for dimension in release.dimensions %}, {{ dimension }} AS d{{ loop.index0 }}{% endfor %}

    {% for measure in release.measures %}, {{ measure }} AS m{{ loop.index0 }}{% endfor %}

FROM {{ release.source }}
{% endfor %}
