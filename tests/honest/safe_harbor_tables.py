"""Honest tables for HIPAA's Safe Harbor, and for identifiers by content in releases: several countries and trades."""

from __future__ import annotations

from collections.abc import Sequence

from tests.honest.honest_table import HonestTable

ROWS = 40


def repeat(*cells: object) -> list[object]:
    """Return the cells over and over, one for each of the rows."""
    return [cells[row % len(cells)] for row in range(ROWS)]


def spread(first: float, step: float) -> list[object]:
    """Return a different number for each row, in no order."""
    return [first + step * ((7 * row + 3) % ROWS) for row in range(ROWS)]


def harbor(name: str, defence: str, more: str = "", **columns: Sequence[object]) -> HonestTable:
    """Return a table that holds none of the 18 identifiers."""
    command = f"audit {{t}} --qi sex --preset hipaa-safe-harbor {more}".strip()
    return HonestTable(f"safe harbor: {name}", defence, command, {"sex": repeat("f", "m"), **columns})


def release(name: str, defence: str, **columns: Sequence[object]) -> HonestTable:
    """Return a table of which every column may be published."""
    command = "suppress {t} --qi sex --require k=5 --to {t}.released.csv"
    return HonestTable(f"release: {name}", defence, command, {"sex": repeat("f", "m"), **columns})


NO_PLACE = "It says what a place is like, or where on a body; no area smaller than a state is named."
UNIT = "Nobody is over 89: the name says in which unit ages are counted."
QUANTITY = "A measured or counted quantity; no number of a person."
NO_DATE = "It speaks of an event and holds no date of it."
YEARS = "Only years, and nobody is over 89."
FLAG = "It says yes or no, and not who."
STATE = "States, and areas larger than states, may stay."
AGES = "Ages up to 89, or one category of 90 and over."
ZIPS = "Three digits of ZIP codes, of areas with more than 20,000 people; all others are 000."

PLACES = [
    harbor("type of hospital", NO_PLACE, hospital_type=repeat("teaching", "community", "private")),
    harbor("type of hospital in capitals", NO_PLACE, HOSPITAL_TYPE=repeat("Teaching", "Rural", "For-profit")),
    harbor("beds of the hospital", NO_PLACE, hospital_beds=repeat(25, 120, 480, 900)),
    harbor("beds of the hospital in classes", NO_PLACE, hospital_bed_size=repeat("small", "medium", "large")),
    harbor("size of the hospital", NO_PLACE, hospital_size=repeat("<100 beds", "100-299 beds", "300+ beds")),
    harbor("distance to the hospital", NO_PLACE, distance_to_hospital_miles=spread(1.5, 2.25)),
    harbor("distance to school", NO_PLACE, school_distance_km=spread(0.2, 0.35)),
    harbor("place of service in words", NO_PLACE, place_of_service=repeat("office", "emergency room", "home")),
    harbor("place of service by CMS's codes", NO_PLACE, place_of_service=repeat(11, 21, 22, 23)),
    harbor("place of death", NO_PLACE, place_of_death=repeat("hospital", "home", "nursing home", "hospice")),
    harbor("place of death in capitals", NO_PLACE, place_of_death=repeat("Hospital", "Home", "Nursing Home")),
    harbor("region of the body", NO_PLACE, body_region=repeat("head", "thorax", "lower extremity", "spine")),
    harbor("location of the tumor", NO_PLACE, tumor_location=repeat("left breast", "colon", "frontal lobe")),
    harbor("location of pain", NO_PLACE, pain_location=repeat("lower back", "neck", "knee", "shoulder")),
    harbor("site of the lesion", NO_PLACE, lesion_location=repeat("Left arm", "Trunk", "Scalp", "Right leg")),
    harbor("place of the injury", NO_PLACE, injury_place=repeat("street", "school", "farm", "sports area")),
    harbor("location of the fall", NO_PLACE, location_of_fall=repeat("bathroom", "stairs", "bedroom", "garden")),
    harbor("size of the city", NO_PLACE, city_size=repeat("<50,000", "50,000-249,999", "250,000+")),
    harbor("size of the city in words", NO_PLACE, city_size=repeat("small", "medium", "large")),
    harbor("type of the county", NO_PLACE, county_type=repeat("urban", "suburban", "rural")),
    harbor("type of the county as NCHS has it", NO_PLACE, county_type=repeat("Large central metro", "Micropolitan")),
    harbor("class of the county's population", NO_PLACE, county_population_class=repeat("A", "B", "C", "D")),
    harbor("density of the ZIP area", NO_PLACE, zip_density=repeat("low", "medium", "high")),
    harbor("volume of the clinic", NO_PLACE, clinic_volume=repeat("low", "high")),
    harbor("status of the region", NO_PLACE, region_status=repeat("urban", "rural")),
    harbor("census regions", STATE, census_region=repeat("Northeast", "Midwest", "South", "West")),
    harbor("census regions by number", STATE, census_region=repeat(1, 2, 3, 4)),
    harbor("census divisions", STATE, census_division=repeat("New England", "Pacific", "East South Central")),
    harbor("regions of HHS", STATE, hhs_region=repeat(1, 4, 9, 10)),
    harbor("regions of HHS in words", STATE, hhs_region=repeat("Region 1", "Region 4", "Region 10")),
    harbor("region with census regions", STATE, region=repeat("NORTHEAST", "MIDWEST", "SOUTH", "WEST")),
    harbor("continents", STATE, region=repeat("Europe", "Asia", "Africa", "North America")),
    harbor("states by letters", STATE, state=repeat("MA", "NY", "CA", "TX")),
    harbor("states in words", STATE, state_of_residence=repeat("Massachusetts", "New York", "Ohio")),
    harbor("states by FIPS number", STATE, state_fips=repeat("01", "25", "36", "06")),
    harbor("countries", STATE, country=repeat("US", "Canada", "Mexico"), native_country=repeat("India", "US")),
    harbor("German states", STATE, bundesland=repeat("Bayern", "Hessen", "Sachsen")),
    harbor("one country in all rows", STATE, country=repeat("United States")),
    harbor("in hospital or not", FLAG, in_hospital=repeat(0, 1), hospital=repeat("yes", "no")),
    harbor("three digits of ZIP codes", ZIPS, zip3=repeat("021", "100", "606", "000"), more="--all-text"),
    harbor("masked ZIP codes", ZIPS, zip=repeat("021**", "100**", "606**", "000**")),
    harbor("ZIP areas as numbers", ZIPS, zip=repeat(21, 100, 606, 0)),
]

AGE = [
    harbor("ages in months", UNIT, age_months=spread(3, 26)),
    harbor("ages in days", UNIT, age_in_days=spread(1, 800)),
    harbor("ages in weeks", UNIT, age_weeks=spread(1, 100)),
    harbor("age in days of newborns at birth", UNIT, gestational_age_days=spread(240, 1)),
    harbor("gestational age in weeks", UNIT, gestational_age=repeat(36, 38, 40), ga_weeks=repeat(37.5, 40.1)),
    harbor("bone age in months", UNIT, bone_age_months=spread(80, 3)),
    harbor("German months", UNIT, alter_monate=spread(2, 20)),
    harbor("ages in years", AGES, age=spread(18, 1)),
    harbor("ages with a category of 90", AGES, age=repeat(34, 58, 71, 90)),
    harbor("ages in bands", AGES, age_group=repeat("0-17", "18-44", "45-64", "65-89", "90+")),
    harbor("ages in words", AGES, age_group=repeat("child", "adult", "elderly")),
    harbor("ages with words of order", AGES, age_band=repeat("under 18", "18 to 64", "65 and over")),
    harbor("ages in half-open intervals", AGES, age=repeat("[20, 30)", "[30, 40)", "[80, 90)", "[90, inf)")),
    harbor("German age groups", AGES, altersgruppe=repeat("unter 18", "18 bis 64", "65 und älter")),
    harbor("French age groups", AGES, tranche_age=repeat("0-17 ans", "18-64 ans", "65 ans et plus")),
    harbor("Spanish age groups", AGES, edad=repeat("18-39", "40-64", "65 y más")),
    harbor("ages with a code for missing ones", AGES, age=repeat(34, 58, 999)),
    harbor("ages with a unit", AGES, age=repeat("34 years", "7 years", "18 months")),
    harbor("age at the first child", AGES, age_at_first_birth=repeat(19, 25, 31)),
    harbor("ages as texts with zeros", AGES, age=repeat("034", "058", "007"), more="--all-text"),
]

DATES = [
    harbor("years of admission", YEARS, admission_year=repeat(2019, 2020, 2021)),
    harbor("years of admission as texts", YEARS, admission_date=repeat("2019", "2020"), more="--all-text"),
    harbor("years of birth", YEARS, birth_year=spread(1950, 1)),
    harbor("decades of birth", YEARS, birth_decade=repeat("1950s", "1960s", "1970-1979")),
    harbor("years of birth in intervals", YEARS, birth_date=repeat("[1950, 1960)", "[1960, 1970)")),
    harbor("German years of birth", YEARS, geburtsjahr=repeat(1951, 1975, 1999)),
    harbor("French years", YEARS, annee_naissance=repeat(1951, 1975, 1999)),
    harbor("first of January for the year", YEARS, admitted=repeat("2019-01-01", "2020-01-01")),
    harbor("types of admission", NO_DATE, admission_type=repeat("emergency", "elective", "urgent")),
    harbor(
        "types of admission by code", NO_DATE, admission_type_id=repeat(1, 2, 3), discharge_disposition=repeat(1, 6)
    ),
    harbor("discharge status of UB-04", NO_DATE, discharge_status=repeat("01", "02", "30"), more="--all-text"),
    harbor("source of admission", NO_DATE, admission_source=repeat("Physician Referral", "Transfer", "ER")),
    harbor("died or not", FLAG, died=repeat(0, 0, 1), death=repeat("no", "yes"), hospital_death=repeat(1, 0)),
    harbor("death within 30 days", FLAG, death_30_days=repeat(0, 1), readmission_30_day=repeat("NO", ">30", "<30")),
    harbor("cause of death", NO_DATE, cause_of_death=repeat("cardiac", "cancer", "other")),
    harbor("diagnosis at admission", NO_DATE, admission_diagnosis=repeat("I21.4", "J18.9", "C50.1")),
    harbor("time in hospital", QUANTITY, time_in_hospital=repeat(1, 3, 7), length_of_stay_days=repeat(2, 9, 30)),
    harbor("days to an event", QUANTITY, days_to_death=spread(30, 91), followup_months=spread(1, 3)),
    harbor("weekly hours", QUANTITY, hours_per_week=repeat(20, 38, 40, 60), drinks_per_day=repeat(0, 1, 2.5)),
    harbor("monthly income", QUANTITY, monthly_income=spread(1200, 37), weekly_wage=spread(300, 11.5)),
    harbor(
        "ejection fraction and systole",
        QUANTITY,
        ef=repeat(35, 55),
        sbp=repeat(120, 140),
        month_of_treatment=repeat(0, 6, 12, 24),
    ),
    harbor("Glasgow coma scale", QUANTITY, gcs=repeat("4-5-6", "3-4-5", "1-1-1", "2-3-4")),
    harbor("birth weights", QUANTITY, birthweight=spread(1900, 45)),
    harbor("birth weights in two words", QUANTITY, birth_weight=spread(1900, 45), birth_order=repeat(1, 2, 3)),
    harbor("German birth weights", QUANTITY, geburtsgewicht=spread(1900, 45)),
    harbor("low weight at birth", FLAG, low_birth_weight=repeat(0, 1), preterm_birth=repeat("no", "yes")),
    harbor("mode of birth", NO_DATE, birth_type=repeat("vaginal", "cesarean"), sex_at_birth=repeat("F", "M")),
    harbor("Brazilian admissions", NO_DATE, tipo_admissao=repeat("eletiva", "urgência"), ano_obito=repeat(2019, 2020)),
    harbor("a date column without values", "There is no value at all.", date_of_birth=repeat(None), ssn=repeat(None)),
]

NUMBERS = [
    harbor("inpatient days", QUANTITY, ip_days=repeat(0, 2, 5, 9)),
    harbor("hours of using a phone", QUANTITY, phone_use_hours=repeat(0.5, 2, 3.5)),
    harbor(
        "calls and visits", QUANTITY, phone_calls=repeat(0, 1, 4), email_count=repeat(0, 3, 12), n_phone=repeat(1, 2)
    ),
    harbor("costs", QUANTITY, total_cost=[int(str(cell)) for cell in spread(20311, 977)]),
    harbor("platelets", QUANTITY, platelets=spread(101, 7)),
    harbor("viral load", QUANTITY, viral_load=spread(40, 8123)),
    harbor("steps", QUANTITY, steps=spread(1204, 333), steps_per_day=spread(804, 331)),
    harbor("charges as texts", QUANTITY, "--all-text", total_charges=spread(1021.55, 317.37)),
    harbor("a laboratory value as texts", QUANTITY, "--all-text", crp=spread(0.31, 1.17)),
    harbor("laboratory values", QUANTITY, creatinine=spread(0.61, 0.07), glucose=spread(71, 3), wbc=spread(3.1, 0.3)),
    harbor("claims", QUANTITY, claim_amount=spread(90, 411), paid_amount=spread(80, 399), copay=repeat(0, 20, 40)),
    harbor("German costs", QUANTITY, gesamtkosten=spread(1017, 613), leukozyten=spread(3100, 97)),
    harbor("French costs", QUANTITY, cout_total=spread(1017, 613), montant_rembourse=spread(801, 597)),
    harbor("calories", QUANTITY, calories=spread(1200, 41), heart_rate=spread(50, 1), ferritin=spread(12, 9)),
    harbor(
        "contacts that are there",
        FLAG,
        has_email=repeat("yes", "no"),
        phone=repeat("Y", "N"),
        email_opt_in=repeat(0, 1),
    ),
    harbor("types of contacts", "It says of which kind, and not which.", phone_type=repeat("mobile", "landline")),
    harbor("types of accounts", "It says of which kind, and not which.", account_type=repeat("checking", "savings")),
    harbor("status of the passport", "It says of which kind.", passport_status=repeat("valid", "expired", "none")),
    harbor("members of a household", QUANTITY, household_members=repeat(1, 2, 4), children=repeat(0, 1, 3)),
    harbor(
        "survey answers", "Answers on a scale.", q1=repeat(1, 2, 3, 4, 5), q2=repeat("agree", "disagree", "neutral")
    ),
    harbor(
        "diagnoses",
        "Codes of diseases, which many people share.",
        icd10=repeat("E11.9", "I10", "J45.909"),
        drg=repeat(470, 871),
    ),
    harbor(
        "insurance",
        "Kinds of insurance.",
        payer=repeat("Medicare", "Medicaid", "Private"),
        insurance=repeat("PPO", "HMO"),
    ),
    harbor(
        "census of adults",
        "As in the public file of the census.",
        age=spread(17, 1),
        workclass=repeat("Private", "State-gov"),
        education=repeat("Bachelors", "HS-grad"),
        occupation=repeat("Sales", "Tech-support"),
        hours_per_week=repeat(40, 50),
    ),
    harbor("Japanese questionnaire", "Kinds only.", 性別=repeat("男", "女"), 年代=repeat("20代", "30代", "40代")),
]

RELEASES = [
    release("amounts", QUANTITY, total_cost=repeat(120, 340, 560), crp=repeat(0.3, 1.2, 7.7)),
    release(
        "sentences without names", "Categories in words.", answer=repeat("very satisfied", "not at all", "somewhat")
    ),
    release("texts with an at sign", "No address: a grade.", grade=repeat("A @ level", "B @ level")),
    release("doses", "Strengths of drugs.", dose=repeat("5 mg", "10 mg", "2 x 5 mg")),
    release("ratios", "Blood pressures.", bp=repeat("120/80", "140/90", "110/70")),
    release("versions", "Versions of a form.", form_version=repeat("1.0.2", "1.1.0", "2.0.0")),
    release(
        "kinds of employment", "Kinds of employment.", employment=repeat("Full Time", "Part Time", "Self Employed")
    ),
    release("living with a spouse", "How people live.", living=repeat("With Spouse", "Alone", "With Parents")),
    release("few devices by model", "Models that many people have.", device=repeat("Pump A1", "Pump B2")),
    release("ranges with decimals", "Ranges of a measure.", bmi=repeat("18.5, 25.0", "25.0, 30.0")),
    release("gene positions", "Positions that all share.", locus=repeat("17.41196312", "13.32315474")),
    release("job titles", "Kinds of work.", occupation=repeat("Sales Manager", "Nurse", "Truck Driver")),
]

TABLES = [*PLACES, *AGE, *DATES, *NUMBERS, *RELEASES]
