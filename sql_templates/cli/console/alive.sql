{# Whether the connection still answers. #}
SELECT 1 AS answer
