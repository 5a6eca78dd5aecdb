{# Every tuple under its own number. #}
SELECT key, n, key AS a
FROM {{ tuples }}
