{# How often a key is repeated in each of two tables. #}
SELECT
    (SELECT COUNT({{ key[0] }}) - COUNT(DISTINCT {{ key[0] }}) FROM {{ source }}) AS in_release,
    (SELECT COUNT({{ key[1] }}) - COUNT(DISTINCT {{ key[1] }}) FROM {{ identified }}) AS in_other
