{# True when a value is one that a file lists. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
{{ parts.has_key(value, listed, kind) }}{{ " OR (" ~ value ~ " IS NULL AND " ~ listed ~ " IS NULL)" if null }}
