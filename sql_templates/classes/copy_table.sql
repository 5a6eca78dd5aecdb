{# All columns of a table, for a copy that is read several times. #}
SELECT * FROM {{ source }}
