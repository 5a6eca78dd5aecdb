{# The column codes of some events. #}
SELECT event, {{ keys }} FROM {{ names }} WHERE event IN ({% for event in events %}{{ event }}{{ ", " if not loop.last }}{% endfor %})
