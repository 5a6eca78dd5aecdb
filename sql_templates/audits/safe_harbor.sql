{# What the values of each column look like, and of each test of a column two counts: rows whose values HIPAA's Safe Harbor
   certainly forbids, and rows whose values are neither allowed nor forbidden. Only what `allowed` lists is allowed, and a
   missing value. `tests` are a kind, the largest number allowed and the position of the column. Each different value is
   judged once: t is its text in one spelling (brackets are the parentheses that they are for a range, `}` a closing one),
   v the number if it is one, l whether the text has no capitals. #}
{% extends "profiles/profile_values.sql" %}
{% macro has(value, pattern) -%}
REGEXP_MATCHES({{ value }}, '{{ pattern }}')
{%- endmacro %}

{# Spellings: what stands between words, a text made of these words only, a year, a month by name. #}
{% macro between() %}[-+ ,;:./()<>=≤≥}&_~]{% endmacro %}
{% macro made_of(words) %}^{{ between() }}*(({{ words }})({{ between() }}+|$))+${% endmacro %}
{% macro year() %}(1[89]|20)[0-9][0-9]{% endmacro %}
{% macro month() %}(jan|feb|fév|fev|mar|mär|mrz|apr|abr|avr|may|mai|mag|jun|jui|giu|jul|lug|aug|aoû|aou|ago|sep|set|oct|okt|ott|out|nov|dec|déc|dez|dic|ene|gen){% endmacro %}
{# Capitals beyond ASCII whose small letter is ASCII are the Turkish I and the sign for kelvin. #}
{% macro month_in_any_case() %}{% for letter in month() %}{% if letter in "(|)" %}{{ letter }}{% else %}[{{ letter }}{{ letter | upper }}{{ {"i": "İ", "k": "K"}.get(letter, "") }}]{% endif %}{% endfor %}{% endmacro %}
{% macro month_word() %}(^|[^a-zà-ÿ])({{ month() }}|january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro|março|abril|maio|junho|julho|setembro|outubro|novembro|dezembro|sept)([^a-zà-ÿ]|$){% endmacro %}
{% macro weekday() %}(mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|spring|summer|autumn|fall|winter)(day|s|sday|nesday|rsday|urday)?{% endmacro %}

{# A number that is missing, by the codes of surveys; only such numbers as no one counts. #}
{% macro code(v) %}{{ v }} IN (-1, -2, -3, -4, -5, -6, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -998, -999, -9999){% endmacro %}
{% macro no_value() -%}
(t IS NULL AND v IS NULL) OR {{ code("v") }}
OR CASE WHEN v IS NULL THEN {{ has("t", "^([-*x#.?_ ]*|na|n/a|n[.]a[.]|nan|null|nil|none|missing|unknown|unspecified|not (available|applicable|reported|recorded|known|stated)|inf|infinity|redacted|suppressed|removed|masked|unbekannt|keine angabe|k[.]a[.]|inconnu|desconocido|sconosciuto|desconhecido|onbekend)$") }} ELSE FALSE END
{%- endmacro %}
{% macro yes_or_no() -%}
v IN (0, 1) OR CASE WHEN v IS NULL THEN {{ has("t", "^(yes|no|y|n|true|false|t|f|ja|nein|j|oui|non|si|sí|sì|sim|não|nao|nee|tak|nie|да|нет|evet|hayır|hayir|はい|いいえ|是|否)$") }} ELSE FALSE END
{%- endmacro %}
{# In Spark FLOOR of a DOUBLE has to fit a BIGINT. #}
{% macro whole(v) %}({% if dialect == "spark" %}{{ v }} % 1 = 0{% else %}{{ v }} = FLOOR({{ v }}){% endif %}){% endmacro %}
{% macro in_years(v, first) %}CASE WHEN {{ v }} BETWEEN {{ first }} AND 2100 THEN {{ whole(v) }} ELSE FALSE END{% endmacro %}
{% macro years() -%}
{{ has("t", made_of(year() ~ "s?|" ~ year() ~ "[.]0+|fy" ~ year() ~ "|(1[89]|20)[0-9][*_x]|" ~ words["years in words"])) }}
OR {{ has("t", "^" ~ year() ~ "[-/](1[3-9]|[2-9][0-9])$") }}
{%- endmacro %}

{# A ZIP code's digits as text. A number has lost its leading zeros, and a text of digits may have. Five places with three
   digits show an area, fewer have lost a zero; of two digits in five places nothing smaller is known. #}
{% macro zip() %}COALESCE(REGEXP_REPLACE(t, '[.]0+$', '', 'g'), CASE WHEN v BETWEEN 0 AND 999999999 THEN CAST(CAST(v AS BIGINT) AS VARCHAR) END){% endmacro %}
{% macro area(z) -%}
CASE
    WHEN {{ has(z, "^(0{3,5}|00000-?0000)$") }} THEN '000'
    WHEN {{ has(z, "^[0-9]{1,3}$") }} THEN SUBSTRING('000', 1, 3 - LENGTH({{ z }})) || {{ z }}
    WHEN {{ has(z, "^(0[0-9]{2}[-*_#x]+|[0-9]{3}([-*_#x]{2,}|[-_]))$") }} THEN SUBSTRING({{ z }}, 1, 3)
    WHEN {{ has(z, "^[0-9]{2}[*_#x]{2}$") }} THEN '0' || SUBSTRING({{ z }}, 1, 2)
    WHEN {{ has(z, "^[0-9][*_#x]{2}$") }} THEN '00' || SUBSTRING({{ z }}, 1, 1)
    WHEN {{ has(z, "^[0-9]{1,2}[*_#x]+$") }} THEN 'larger'
END
{%- endmacro %}

{# Ages up to 89, in words and ranges; 90 only as one category of 90 and over, or as the end that does not belong to it. #}
{% macro age_words(most) -%}
0*{{ "[0-8]?[0-9]" if most == 90 else "[0-9]{1,3}" }}([.,][0-9]+)?(y|yo|yrs?|j|m|mo|w|wk|d|s)?|{{ words["ages in words"] }}
{%- endmacro %}
{% macro of_90() -%}
^((>=|=>|≥|from|ab|aged?|over 89 or|de) ?)*0*90([.]0+)? ?(y|yo|yrs?|years?|jahren?|ans|años|anos|anni|jaar)? ?([+]|((or|and|und|et|y|e|ou|o|en|of|&|,)? ?(over|older|above|more|up|plus|älter|aelter|mehr|más|mas|mayores|oltre|più|ouder|high(er|est)?|max|inf))( years?)?)?( years?)?$|^[({]?(0*[0-8]?[0-9]([.]0+)? ?[-,;]|<|under|unter|below|less than|moins de|menos de) ?90([.]0+)?( years?| ans)?[)]?$|^[({]90([.]0+)?, ?([+]?inf|infinity|∞|1[0-9]{2}([.]0+)?|max)?[)}]$
{%- endmacro %}

{# Dates with a day, in any spelling; and what only the name of a column makes a date. #}
{% macro full_date(t) -%}
({{ has(t, "^[^0-9a-z]*[0-9]{4}[-/._][0-9]{1,2}[-/._][0-9]{1,2}([^0-9].*)?$") }}
OR {{ has(t, "^[^0-9a-z]*[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})([^0-9].*)?$") }}
OR {{ has(t, "^" ~ month() ~ "[a-zûé]*[- .,/]*" ~ year() ~ "$|^" ~ year() ~ "[-/ ]?[qw][0-9]{1,2}$|^[({].*\"" ~ year() ~ "-[0-9]{2}-[0-9]{2}") }}
OR {{ has(t, "^[^0-9a-z]*[0-9]{8}t[0-9]{4}|^[0-9]{4}-?w[0-9]{2}-[1-7]$") }}
OR {{ has(t, "^[^0-9a-z]*[0-9]{1,2}(st|nd|rd|th|[.])?[- ./]*" ~ month() ~ "[a-zûé]*[- .,/]*([0-9]{4}|[0-9]{2})([^0-9].*)?$") }}
OR {{ has(t, "^[^0-9a-z]*" ~ month() ~ "[a-zûé]*[- .]*[0-9]{1,2}(st|nd|rd|th)?[-, ]+[0-9]{4}([^0-9].*)?$") }})
AND NOT {{ has(t, "^[0-9]{4}[-/.]0?1[-/.]0?1([t ][0:.]*)?$") }}
{%- endmacro %}
{% macro named_date() -%}
({{ full_date("t") }}) OR {{ has("t", month_word()) }} OR {{ has("t", "(^|[^a-z])" ~ month() ~ "[a-zéû]*[^a-z]*[0-9]") }}
OR {{ has("t", "^[0-9]{4}[-/. ]?(0?[1-9]|1[0-2])$|^(0?[1-9]|1[0-2])[-/.][0-9]{4}$|^[0-9]{4}[-/ ]?[qw][0-9]{1,2}|^[qw][0-9]{1,2}[-/ ]?[0-9]{4}$|^[0-9]{4}-[0-9]{3}$|^[0-9]{1,2}[./][0-9]{1,2}[./]?$") }}
OR v BETWEEN 10000 AND 1e37 OR v BETWEEN -1e37 AND -100
{%- endmacro %}
{% macro january() %}{{ has("t", "^[0-9]{4}[-/.]0?1[-/.]0?1([t ][0:.]*)?$") }}{% endmacro %}
{% macro first_year() %}COALESCE(v, CASE WHEN {{ has("t", "^[^0-9]*" ~ year() ~ "([^0-9]|$)") }} OR {{ has("t", "^[^0-9]*(1[89]|20)[0-9][*_x]") }} THEN CAST(SUBSTRING(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(t, '*', '0'), '_', '0'), 'x', '0'), '[^0-9]+', '', 'g'), 1, 4) AS INTEGER) END){% endmacro %}

{# What is allowed by each kind of test. #}
{% macro allowed(kind, most, column) -%}
{% if kind in ("identifier", "place", "fips") -%}
{{ yes_or_no() }}{% if kind == "place" %} OR {{ area_words() }}{% endif %}
{%- elif kind == "number_of" -%}
{{ yes_or_no() }} OR v BETWEEN 0 AND {{ most }}
{%- elif kind == "kind_of" -%}
{{ yes_or_no() }} OR v BETWEEN 0 AND {{ most }} OR NOT {{ has("t", "[0-9@/]") }}
{%- elif kind == "flag" -%}
{{ yes_or_no() }}
{%- elif kind == "zip" -%}
{{ area(zip()) }} IS NOT NULL
{%- elif kind == "small_area" -%}
COALESCE({{ area(zip()) }} NOT IN ({% for one in areas %}'{{ one }}'{{ ", " if not loop.last }}{% endfor %}), TRUE)
{%- elif kind == "age" -%}
{{ yes_or_no() }} OR v BETWEEN 0 AND {{ most }}{% if most == 90 %} OR v IN (777, 888, 996, 997, 998, 999){% endif %}

OR {{ has("t", made_of(age_words(most))) }} OR {{ has("t", of_90()) }}
OR {{ has("t", "^0*([0-9]{1,3}|10[0-7][0-9]) ?(m|mos?|months?|mths?|monate?|mois|meses|mesi|maanden|w|wks?|weeks?|wochen|semaines|semanas|d|days?|tage?|jours?|dias?)$") }}
{%- elif kind == "dated" -%}
{{ in_years("v", 1850) }} OR v BETWEEN 0 AND {{ most or 1 }} AND {{ whole("v") }} OR v IN (8888, 9999)
OR {{ yes_or_no() }} OR {{ years() }} OR {{ january() }}
{%- elif kind == "event" -%}
v BETWEEN -32871 AND {{ most }} OR {{ in_years("v", 1850) }} OR NOT COALESCE({{ named_date() }}, FALSE) AND ({{ years() }} OR NOT {{ has("t", "[0-9]") }}
OR {{ has("t", "^[a-z]{0,3}[0-9]{1,3}([.][0-9a-z]{1,3})?$|^[<>=≤≥]{0,2} ?[0-9]{1,3}( ?[-+]( ?[0-9]{1,3})?)?( ?[a-z]+)?$") }}) OR {{ january() }}
{%- elif kind in ("date", "maybe_date") -%}
DATE_TRUNC('year', {{ column }}) = {{ column }}
{% if kind == "maybe_date" %}OR EXTRACT(YEAR FROM {{ column }}) BETWEEN 1 AND 9 AND EXTRACT(DAY FROM {{ column }}) < 10{% endif %}

{%- elif kind == "born_date" -%}
EXTRACT(YEAR FROM {{ column }}) >= {{ oldest }}
{%- elif kind == "born" -%}
COALESCE({{ first_year() }}, {{ oldest }}) NOT BETWEEN 1850 AND {{ oldest - 1 }}
{%- elif kind == "state" -%}
v BETWEEN 0 AND 999 OR NOT {{ has("t", "[0-9].*[0-9].*[0-9]") }}
{%- elif kind == "state_number" -%}
v BETWEEN 0 AND 78 AND ({{ has("t", "^[0-9]{1,2}$") }} OR t IS NULL)
{%- elif kind == "numbered_region" -%}
v BETWEEN 0 AND {{ most }} OR {{ area_words() }} OR {{ has("t", "^((hhs|census|region|division|r)[ -]*)*([0-9]|10|i|ii|iii|iv|v|vi|vii|viii|ix|x)$") }}
{%- elif kind == "body" -%}
v BETWEEN 0 AND 99 OR NOT {{ has("t", "[0-9]") }} OR {{ has("t", "^[a-z][0-9]{1,2}([.][0-9]{1,2})?$") }}
{%- elif kind in ("site", "site_of_birth", "kind_of_settlement", "kind_of_place") -%}
{% set listed = {"site": "sites of events", "site_of_birth": "sites of events", "kind_of_settlement": "kinds of settlements", "kind_of_place": "names of kinds"}[kind] %}
v BETWEEN 0 AND {{ most }} OR {{ yes_or_no() }} OR {{ area_words() }} OR {{ has("t", made_of(words[listed] ~ ("|[0-9]{1,3}[km]?" if "site" not in kind else ""))) }}
{% if kind in ("site", "kind_of_place") %}OR l AND NOT {{ has("t", "[0-9]") }}{% endif %}

{%- else -%}
FALSE
{%- endif %}
{%- endmacro %}
{% macro area_words() %}{{ has("t", "^((the|us) )?(" ~ words["areas above states"] ~ ")$") }} OR {{ has("t", "^(urban|rural|suburban|peri-?urban|semi-?urban|urbain|urbano|ländlich|städtisch|micropolitan|(non-? ?)?metro(politan)?)( areas?)?$") }}{% endmacro %}

{# What is certainly forbidden, of what is not allowed. #}
{% macro forbidden(kind, most, column) -%}
{% if kind == "zip" -%}
v >= 1000 OR {{ has("t", "[0-9]") }}
{%- elif kind == "age" -%}
v > {{ most }} AND v < {{ most * 5 // 3 }}{% if most == 90 %} OR {{ has("t", "(^|[^0-9.,])0*(9[1-9]|1[0-4][0-9])($|[^0-9])") }}{% endif %}

{%- elif kind in ("dated", "event") -%}
{{ named_date() }}
{%- elif kind == "written_date" -%}
{{ full_date("t") }}
{%- elif kind == "part" -%}
CASE WHEN v BETWEEN 1 AND {{ most }} THEN {{ whole("v") }} ELSE v BETWEEN 10000 AND 1e37 END OR {{ has("t", month_word()) }}
OR {{ has("t", "^([qwm]|kw|day|week|month|quarter|q)?[. -]*[0-9]{1,3}([.]|st|nd|rd|th)?$|^" ~ weekday() ~ "[.]?$|" ~ year()) }}
{%- elif kind in ("date", "maybe_date", "born_date", "born", "small_area", "identifier", "number_of", "kind_of", "flag", "place", "state_number") -%}
TRUE
{%- else -%}
FALSE
{%- endif %}
{%- endmacro %}
{# Texts in which only written dates are looked for are put into one spelling if they can be one: they are long enough, and
   do not begin with a letter other than a month's. #}
{% block spellings %}
        {% for column in columns %}{% if column.dated %}c{{ loop.index0 }}, {% endif %}{% endfor %}

        {{ parts.by_column(columns, "number", "CASE WHEN ? BETWEEN -1e37 AND 1e37 THEN CAST(? AS DOUBLE) END", "DOUBLE") }} AS figure,
        COALESCE({{ parts.by_column(columns, "number", "CASE WHEN ? BETWEEN -1e37 AND 1e37 THEN NULL ELSE LOWER(CAST(? AS VARCHAR)) END", "VARCHAR") }}, {{ parts.by_column(columns, "timed", "CAST(? AS VARCHAR)", "VARCHAR") }}) AS other_text,
{% endblock %}
{% block texts %}
        CASE
            WHEN spelling IS NULL THEN other_text
            {% if opened %}
            WHEN column_number IN ({{ opened | join(", ") }}) AND NOT (LENGTH(spelling) >= 6 AND {{ parts.has("^([^A-Za-z]|" ~ month_in_any_case() ~ ")") }}) THEN NULL
            {% endif %}
            ELSE TRANSLATE(LOWER(TRIM(spelling)), '[]–—', '(}--')
        END AS t,
        spelling = LOWER(spelling) AS l,
{% endblock %}
{% block judged %},
judged AS (
    SELECT
        *
    {% for kind, most, i in tests %}
        , CASE
            WHEN column_number <> {{ i }} THEN 0
            {% if kind == "written_date" %}
            WHEN t IS NULL OR LENGTH(t) < 6 OR NOT {{ has("t", "[0-9]") }} THEN 0
            {% else %}
            WHEN {{ "c" ~ i ~ " IS NULL" if kind in ("date", "maybe_date", "born_date") else no_value() }} THEN 0
            {% endif %}
            {% if kind == "flag" %}
            WHEN v = 0 OR {{ has("t", "^(no|n|f|false|nein|non|não|nao|nee|nie|нет|hayır|hayir|いいえ|否)$") }} THEN 2
            {% endif %}
            WHEN {{ allowed(kind, most, "c" ~ i) }} THEN 0
            WHEN {{ forbidden(kind, most, "c" ~ i) }} THEN 1
            ELSE {{ 0 if kind == "written_date" else 2 }}
        END AS s{{ loop.index0 }}
    {% endfor %}
    FROM (
        SELECT *, CASE WHEN {{ has("t", "^[+-]?[0-9]{1,30}([.,][0-9]{1,9})?$") }} THEN CAST(REPLACE(t, ',', '.') AS DOUBLE) ELSE figure END AS v
        FROM {{ last_step }}
    ) AS numbered
)
{% endblock %}
{% block folded_values %}NULL{% endblock %}
{% block last_step %}judged{% endblock %}
{# Of each test the rows that are forbidden and those that are unclear; of `flag` no and yes. #}
{% block tested %}
{% for _ in tests %}
    , SUM(CASE WHEN s{{ loop.index0 }} = 1 THEN n ELSE 0 END) AS forbidden_{{ loop.index0 }}
    , SUM(CASE WHEN s{{ loop.index0 }} = 2 THEN n ELSE 0 END) AS unclear_{{ loop.index0 }}
{% endfor %}
{% endblock %}
