{#- A model that holds one statement of `sqlaudit compile -f`: it is run, and its row of counts becomes the message of the
    model in run_results.json, which `sqlaudit test --results` reads. Nothing is made in the warehouse. -#}
{% materialization sqlaudit_answer, default %}
    {{ run_hooks(pre_hooks) }}
    {%- call statement("answer", fetch_result=true) -%}
        {{ sql.strip().rstrip(";") }}
    {%- endcall -%}
    {%- set table = load_result("answer")["table"] -%}
    {%- set rows = [] -%}
    {%- for row in table.rows -%}
        {%- set told = {} -%}
        {%- for name in table.column_names -%}
            {%- do told.update({name | lower: none if row[name] is none else row[name] | string}) -%}
        {%- endfor -%}
        {%- do rows.append(told) -%}
    {%- endfor -%}
    {%- do store_raw_result("main", message=tojson(rows), code="OK", rows_affected=rows | length) -%}
    {{ run_hooks(post_hooks) }}
    {{ return({"relations": []}) }}
{% endmaterialization %}
