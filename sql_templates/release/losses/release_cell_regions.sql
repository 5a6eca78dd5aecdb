{# The cells of one column as classes: the original rows under each. #}
SELECT code AS key, m AS n, covered_rows AS region
FROM {{ cells }}
