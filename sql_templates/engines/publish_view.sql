{# A view, in PostgreSQL one that no function in a reader's condition can look behind; or a table. #}
CREATE {{ kind | upper }} {{ name }}{{ " WITH (security_barrier)" if dialect == "postgres" and kind == "view" }} AS
{{ select }}
