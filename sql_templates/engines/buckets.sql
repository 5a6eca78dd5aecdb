{# The sensitive values of a bucketized release, one row a person: each row of the values, as often as its count says.
   Which person gets which value of a bucket is of no account, as only the histogram of a bucket is known. #}
{% if counted is none %}
SELECT {{ columns | join(", ") }} FROM {{ values }} AS listed
{% else %}
SELECT {% for column in columns %}spread.{{ column }}{{ ", " if not loop.last }}{% endfor %}

FROM (
    SELECT
        listed.*,
        SUM({{ counted }}) OVER (PARTITION BY {{ bucket }} ORDER BY {{ bucket }} ROWS UNBOUNDED PRECEDING) AS sqlaudit_last_place
    FROM {{ values }} AS listed
) AS spread
INNER JOIN (
    SELECT
        {{ bucket_of_persons }} AS bucket_of_person,
        ROW_NUMBER() OVER (PARTITION BY {{ bucket_of_persons }} ORDER BY {{ bucket_of_persons }}) AS place
    FROM {{ persons }} AS listed
) AS person
    ON person.bucket_of_person = spread.{{ bucket }}
    AND person.place <= spread.sqlaudit_last_place
    AND person.place > spread.sqlaudit_last_place - spread.{{ counted }}
{% endif %}
