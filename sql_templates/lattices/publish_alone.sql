{# A number of its own for a row in which a label is missing, where missing values are equal to nothing. #}
CASE WHEN {% for label in labels %}{{ label }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER () END
