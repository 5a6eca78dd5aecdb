{# The sets that several persons share, which the next size extends. #}
{% import "events/_events_sets.sql" as parts with context %}
SELECT {{ parts.names(size) }}, persons FROM {{ sets }} WHERE persons >= 2
