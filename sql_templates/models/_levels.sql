{# What models say of a class: levels and predicates over its facts. Limits enter as whole numbers (numerator and
   denominator of an exact decimal), so that predicates are exact; where a logarithm is involved, as the two ends of
   the band around the limit in which exact arithmetic decides afterwards. #}

{% macro infinity() %}CAST('Infinity' AS DOUBLE){% endmacro %}
{% macro never() %}1 = 0{% endmacro %}
{% macro always() %}1 = 1{% endmacro %}
{% macro all_members(fact) %}{{ fact }} = n{% endmacro %}
{% macro below(fact, limit) %}{{ fact }} < {{ limit }}{% endmacro %}
{% macro above(fact, limit) %}{{ fact }} > {{ limit }}{% endmacro %}
{% macro between(expression, low, high) %}{{ expression }} BETWEEN {{ low }} AND {{ high }}{% endmacro %}
{% macro either(first, second) %}({{ first }}) OR ({{ second }}){% endmacro %}
{% macro both(first, second) %}({{ first }}) AND ({{ second }}){% endmacro %}
{% macro of_sizes(condition, sizes) %}({{ condition }}) AND n IN ({{ sizes | join(", ") }}){% endmacro %}
{% macro share(part) %}CAST({{ part }} AS DOUBLE) / n{% endmacro %}
{% macro share_above(part, limit) %}{{ part }} * {{ limit.denominator }} > n * {{ limit.numerator }}{% endmacro %}
{% macro share_below(part, limit) %}{{ part }} * {{ limit.denominator }} < n * {{ limit.numerator }}{% endmacro %}

{# exp(entropy). #}
{#- Where all counts of a class are equal it is their number, exactly; that is where limits are met in practice. #}
{% macro exp_entropy() %}EXP(LN(CAST(n AS DOUBLE)) - count_log_count / n){% endmacro %}
{% macro entropy_l() %}CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS DOUBLE) ELSE {{ exp_entropy() }} END{% endmacro %}
{% macro entropy_below(limit, low) %}CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS BIGINT) * {{ limit.denominator }} < {{ limit.numerator }} ELSE {{ exp_entropy() }} < {{ low }} END{% endmacro %}
{% macro entropy_between(low, high) %}largest * distinct_values <> n AND {{ exp_entropy() }} BETWEEN {{ low }} AND {{ high }}{% endmacro %}

{# The infimum of c in r1 < c (tail), and the opposite of r1 < c (tail). #}
{% macro infimum(count, tail) %}CASE WHEN {{ tail }} > 0 THEN CAST({{ count }} AS DOUBLE) / ({{ tail }}) ELSE {{ infinity() }} END{% endmacro %}
{% macro not_recursive(count, tail, limit) %}CAST({{ count }} AS DECIMAL(38, 0)) * {{ limit.denominator }} >= CAST({{ tail }} AS DECIMAL(38, 0)) * {{ limit.numerator }}{% endmacro %}

{# The tail of PD-recursive (c,l): what remains without the l-2 largest counts and the smaller of the next one and r. #}
{% macro pd_tail(head, next_head, top) %}n - {{ head }} - LEAST({{ next_head }} - {{ head }}, {{ top }}){% endmacro %}

{# The smallest c in r <= c (rest), or the infimum of c in r < c (rest); a class without r needs none. #}
{% macro ratio(count, rest) %}CASE WHEN {{ count }} = 0 THEN 0.0 WHEN {{ rest }} > 0 THEN CAST({{ count }} AS DOUBLE) / ({{ rest }}) ELSE {{ infinity() }} END{% endmacro %}
{% macro reaches(count, rest, limit) %}{{ count }} > 0 AND CAST({{ count }} AS DECIMAL(38, 0)) * {{ limit.denominator }} >= CAST({{ rest }} AS DECIMAL(38, 0)) * {{ limit.numerator }}{% endmacro %}
{% macro exceeds(count, rest, limit) %}CAST({{ count }} AS DECIMAL(38, 0)) * {{ limit.denominator }} > CAST({{ rest }} AS DECIMAL(38, 0)) * {{ limit.numerator }}{% endmacro %}

{# The infimum of c without an end: what a class reports that holds for every l. #}
{% macro or_infinity(fact) %}COALESCE(CAST({{ fact }} AS DOUBLE), {{ infinity() }}){% endmacro %}

{# Whether the places that occur lie too close: starts is a list of (first place, smallest last place that is enough). #}
{% macro too_close(first, last, starts) %}{% for place, enough in starts %}{{ first }} = {{ place }} AND {{ last }} < {{ enough }}{{ " OR " if not loop.last }}{% endfor %}{% endmacro %}
{% macro number_at(place, points) %}CASE {{ place }}{% for point in points %} WHEN {{ loop.index0 }} THEN CAST({{ point }} AS DOUBLE){% endfor %} END{% endmacro %}
{% macro spread(first, last, points) %}{{ number_at(last, points) }} - {{ number_at(first, points) }}{% endmacro %}
{% macro one_of(fact, values) %}{{ fact }} IN ({{ values | join(", ") }}){% endmacro %}
{% macro one_of_tuples(facts, rows) %}({{ facts | join(", ") }}) IN ({% for row in rows %}({{ row | join(", ") }}){{ ", " if not loop.last }}{% endfor %}){% endmacro %}
{% macro one_of_rows(facts, rows) %}{% for row in rows %}({% for fact, value in zip(facts, row) %}{{ fact }} = {{ value }}{{ " AND " if not loop.last }}{% endfor %}){{ " OR " if not loop.last }}{% endfor %}{% endmacro %}

{% macro weighted_sum(terms) %}({% for fact, times in terms %}{{ fact }}{{ " * " ~ times if times != 1 }}{{ " + " if not loop.last }}{% endfor %}){% endmacro %}

{# A distance whose fact is `unit · n · total` times the distance. #}
{% macro distance(fact, scale) %}CAST({{ fact }} AS DOUBLE) / (CAST(n AS DOUBLE) * {{ scale }}){% endmacro %}
{% macro distance_above(fact, scale, limit) %}{{ fact }} * {{ limit.denominator }} > wide_n * {{ scale * limit.numerator }}{% endmacro %}

{# The largest relative gain, with and without the bound -ln P of each value. #}
{% macro gain(total) %}GREATEST(0.0, largest_lift * {{ total }} / n - 1){% endmacro %}
{% macro bounded_gain(total) %}CASE WHEN gains_above_log > 0 THEN {{ infinity() }} ELSE {{ gain(total) }} END{% endmacro %}

{# The largest |ln(p/P)| of the values that occur, and of all values. #}
{% macro log_ratio(total) %}GREATEST(ABS(LN(largest_lift * {{ total }} / n)), ABS(LN(smallest_lift * {{ total }} / n))){% endmacro %}
{% macro log_ratio_of_all(total, values) %}CASE WHEN distinct_values < {{ values }} THEN {{ infinity() }} ELSE {{ log_ratio(total) }} END{% endmacro %}
{% macro log_ratio_above(total, values, limit) %}distinct_values < {{ values }} OR {{ log_ratio(total) }} > {{ limit }}{% endmacro %}
{% macro log_ratio_between(total, values, low, high) %}distinct_values = {{ values }} AND {{ log_ratio(total) }} BETWEEN {{ low }} AND {{ high }}{% endmacro %}

{# 1/fact above a limit. #}
{% macro reciprocal_above(fact, limit) %}{{ fact }} * {{ limit.numerator }} < {{ limit.denominator }}{% endmacro %}

{# Keys of a node of the lattice over coded rows: the bits of a word that remain; NULL where a column's label is missing
   at its level; a number of its own for a row in which any is. #}
{% macro masked(word, mask) %}k{{ word }} & {{ mask }}{% endmacro %}
{% macro unless_missing(position, level, code) %}CASE WHEN z{{ position }} <= {{ level }} THEN {{ code }} END{% endmacro %}
{% macro own_number(columns, joined) %}CASE WHEN {% for position, level in columns %}z{{ position }} > {{ level }}{{ " OR " if not loop.last or joined }}{% endfor %}{% for column in joined %}{{ column }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN row_number END{% endmacro %}

{# What further relations say of a class: whether it is marked, or listed, and how. #}
{% macro marked(name) %}{{ name }} = 1{% endmacro %}
{% macro known(name) %}NOT {{ name }} IS NULL{% endmacro %}
{% macro first_known(names) %}COALESCE({{ names | join(", ") }}){% endmacro %}
{% macro listed_signatures(rows) %}(VALUES {% for signature, figure in rows %}('{{ signature }}', {{ figure }}){{ ", " if not loop.last }}{% endfor %}){% endmacro %}
{% macro lower_than(name, limit) %}{{ name }} < {{ limit }}{% endmacro %}
{% macro higher_than(name, limit) %}{{ name }} > {{ limit }}{% endmacro %}
{% macro people_below(k) %}members > 0 AND people < {{ k }}{% endmacro %}
{% macro people_riskier(limit) %}members > 0 AND {{ reciprocal_above("people", limit) }}{% endmacro %}
