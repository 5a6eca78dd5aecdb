{# A column's dictionary with what a value adds to each word of the key: the places of its labels, each shifted to where
   the bits of its level lie. `words` has (level, shift) pairs for each word. #}
SELECT
{% for name in names %}
    {{ name }},
{% endfor %}
{% for parts in words %}
    CAST({% for level, shift in parts %}(CAST(x{{ level }} AS BIGINT) << {{ shift }}){{ " + " if not loop.last }}{% endfor %}{{ "0" if not parts }} AS BIGINT) AS k{{ loop.index0 }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ places }} AS places
