-- all residents of the regions, from a register that an attacker has
select age, sex, zip from {{ ref('patients') }}
union all
select age, sex, zip from {{ ref('patients') }} where age < 60
union all
select age + 1 as age, sex, zip from {{ ref('patients') }}
