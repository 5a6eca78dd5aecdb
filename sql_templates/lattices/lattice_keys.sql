{# The classes of one node: the words of their keys, and their rows. #}
SELECT {{ key | join(", ") }}, n
FROM {{ grouped }} AS class
