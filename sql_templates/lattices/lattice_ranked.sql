{# The counts of sensitive values in the finest classes with the number of each column's value, in the order of values.
   `columns` have their codes and the (word, mask) pairs of the key that say a value. #}
SELECT counts.*{% for column in columns %}, codes{{ loop.index }}.id AS v{{ loop.index }}{% endfor %}

FROM {{ counts }} AS counts
{% for column in columns %}
JOIN {{ column.codes }} AS codes{{ loop.index }} ON {% set place = loop.index %}{% for word, mask in column.words %}counts.k{{ word }} & {{ mask }} = codes{{ place }}.k{{ word }}{{ " AND " if not loop.last }}{% else %}TRUE{% endfor %}

{% endfor %}
