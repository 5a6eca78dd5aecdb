{# A text as its reader takes it: the characters of `unseen` are left out, `blanks` are one blank inside and none at the
   ends, and case, width and the order of accents do not count. Plain texts take the short way.
   `whole` and `narrow`: the characters of double or half width, and what they are. `odd` and `even`: letters that lower
   case leaves apart, and what they are. `missing`: whether a text without a visible character is NULL. #}
{% macro composed(x) %}
{% if dialect == "duckdb" %}NFC_NORMALIZE({{ x }}){% elif dialect == "postgres" %}NORMALIZE({{ x }}, NFC){% else %}{{ x }}{% endif %}
{% endmacro %}
{% macro lower(x) %}
REPLACE(REPLACE(TRANSLATE(LOWER({{ x }}{{ ' COLLATE "default"' if dialect == "postgres" }}), '{{ odd }}', '{{ even }}'), 'ß', 'ss'), 'i̇', 'i')
{%- endmacro %}
{% macro folded(x) %}
TRIM(REGEXP_REPLACE({{ composed(lower(composed("REGEXP_REPLACE(" ~ x ~ ", '" ~ unseen ~ "', '', 'g')"))) }}, '{{ blanks }}', ' ', 'g'))
{%- endmacro %}
{% set text = "CAST(" ~ value ~ " AS VARCHAR)" %}
{% if missing %}NULLIF({% endif %}
CASE
    WHEN REGEXP_MATCHES({{ text }}, '{{ plain }}') THEN {% if dialect == "postgres" %}TRANSLATE({{ text }}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'){% else %}LOWER({{ text }}){% endif %}

    WHEN REGEXP_MATCHES({{ text }}, '{{ wide }}') THEN {{ folded("TRANSLATE(" ~ text ~ ", '" ~ whole ~ "', '" ~ narrow ~ "')") }}
    ELSE {{ folded(text) }}
END
{% if missing %}, ''){% endif %}
