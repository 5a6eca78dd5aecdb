{# A column's dictionary with what a value adds to each word of the key: the places of its labels, each shifted to where
   the bits of its level lie, and z, up to which level its label is missing. `words` has (level, shift) pairs for each
   word. #}
SELECT
{% for name in names %}
    {{ name }},
{% endfor %}
    CASE
        WHEN NOT key IS NULL THEN 0
    {% for level in range(1, height) %}
        WHEN NOT l{{ level }} IS NULL THEN {{ level }}
    {% endfor %}
        ELSE {{ [height, 1] | max }}
    END AS z,
{% for parts in words %}
    CAST({% for level, shift in parts %}(CAST(x{{ level }} AS BIGINT) << {{ shift }}){{ " + " if not loop.last }}{% endfor %}{{ "0" if not parts }} AS BIGINT) AS k{{ loop.index0 }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ places }} AS places
