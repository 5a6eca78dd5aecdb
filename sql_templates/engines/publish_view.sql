{# A view; in PostgreSQL one that no function in a reader's condition can look behind. #}
CREATE VIEW {{ name }}{{ " WITH (security_barrier)" if dialect == "postgres" }} AS
{{ select }}
