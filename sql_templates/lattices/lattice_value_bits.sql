{# For every value, level and column how many bits its label leaves open: −log2 of its share of the label's rows, and of
   all rows. `labels` are (position, level, codes, masks of the level, masks of the value). #}
{% for label in labels %}
SELECT
    {{ label.position }} AS position, {{ label.level }} AS level,
    {% for mask in label.whole %}
    k{{ loop.index0 }} & {{ mask }} AS k{{ loop.index0 }},
    {% endfor %}
    -LOG2(row_count / SUM(row_count) OVER (PARTITION BY {% for mask in label.masks %}k{{ loop.index0 }} & {{ mask }}{{ ", " if not loop.last }}{% endfor %})) AS bits,
    -LOG2(row_count / SUM(row_count) OVER ()) AS bits_at_top
FROM {{ label.codes }} AS codes
{{ "UNION ALL" if not loop.last }}
{% endfor %}
