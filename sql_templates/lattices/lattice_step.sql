{# The classes of some nodes one step up: every node of `finer` with the bits of further levels cleared. Of one node also
   some classes alone, whole ones: those whose keys have a hash without the bits of `drawn`. #}
SELECT
    id{{ " + " ~ offset if offset }} AS id,
{% for mask in masks %}
    {{ "k" ~ loop.index0 }} & {{ mask }} AS k{{ loop.index0 }},
{% endfor %}
    CAST(SUM(n) AS BIGINT) AS n
{% for name, aggregate in words %}
    , CAST({{ aggregate }}({{ name }}) AS BIGINT) AS {{ name }}
{% endfor %}
FROM {{ finer }} AS finer
{% if ids %}
WHERE id IN ({{ ids | join(", ") }})
{% endif %}
{% if drawn %}
WHERE hash({% for mask in masks %}finer.k{{ loop.index0 }} & {{ mask }}{{ ", " if not loop.last }}{% endfor %}) & {{ drawn }} = 0
{% endif %}
GROUP BY ALL
