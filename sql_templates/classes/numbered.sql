{# Classes that are kept in a table of the session, with the row's own number as id. #}
SELECT rowid AS id, class.*
FROM {{ classes }} AS class
