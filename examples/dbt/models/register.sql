-- everybody who lives in the regions, as an attacker may find them elsewhere
select age, sex, zip from {{ ref('patients') }}
union all
select age, sex, zip from {{ ref('patients') }} where age < 60
union all
select age + 1 as age, sex, zip from {{ ref('patients') }}
