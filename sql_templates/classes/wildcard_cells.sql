{# Cells with the number of their pattern and its codes, in which matching patterns are found. #}
SELECT id, lane, row_count{% for column in keys %}, k{{ loop.index }}{% endfor %}

FROM {{ coded }}
