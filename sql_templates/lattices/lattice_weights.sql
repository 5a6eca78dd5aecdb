{# The weights of labels as arrays: the column, its level, the bits of the key that say the label, the weight. #}
SELECT position, level, {{ key | join(", ") }}, weight
FROM {{ weights }} AS weights
