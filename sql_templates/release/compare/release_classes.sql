{# The classes of the release; `is_whole` says that every cell may be anything: such rows are suppressed. #}
SELECT
    classes.key, {% for place in places %}classes.g{{ place }}, {% endfor %}classes.n,
    {% for cells in all_cells %}cells_{{ loop.index }}.is_whole{{ " AND " if not loop.last }}{% endfor %} AS is_whole
FROM {{ classes }} AS classes
{% for cells in all_cells %}
JOIN {{ cells }} AS cells_{{ loop.index }} ON classes.g{{ loop.index }} = cells_{{ loop.index }}.code
{% endfor %}
