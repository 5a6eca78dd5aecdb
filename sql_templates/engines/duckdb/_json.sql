{# JSON as it stands in the file. DuckDB's reader makes a DOUBLE of every number with a point, also where text is asked for;
   so numbers are put in quotation marks: the text is cut into strings, numbers and what is between them. #}
{% macro numbers_as_texts(json, mark='') %}
array_to_string(list_transform(
    regexp_extract_all(CAST({{ json }} AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|[^"0-9-]+|.'),
    lambda t: CASE WHEN regexp_matches(t, '^-?[0-9]') THEN '"{{ mark }}' || t || '"' ELSE t END
), '')
{%- endmacro %}
{% macro numbers(json) %}
list_filter(
    regexp_extract_all(CAST({{ json }} AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*'), lambda t: t[1] <> '"'
)
{%- endmacro %}
