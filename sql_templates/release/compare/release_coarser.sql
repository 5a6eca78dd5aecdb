{# Rows that could be compared, those with a cell that is not coarser, and those with a cell that is not finer. #}
SELECT
    SUM(beside.n) AS compared,
    SUM(CASE WHEN {% for order in orders %}order_{{ loop.index }}.is_coarser{{ " AND " if not loop.last }}{% endfor %} THEN 0 ELSE beside.n END) AS not_coarser,
    SUM(CASE WHEN {% for order in orders %}order_{{ loop.index }}.is_finer{{ " AND " if not loop.last }}{% endfor %} THEN 0 ELSE beside.n END) AS not_finer
FROM {{ beside }} AS beside
{% for order in orders %}
JOIN {{ order }} AS order_{{ loop.index }} ON beside.g{{ loop.index }} = order_{{ loop.index }}.own AND beside.h{{ loop.index }} = order_{{ loop.index }}.other
{% endfor %}
