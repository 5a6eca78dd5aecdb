"""Words in column names by what they mean, in several languages and scripts, without accents and in small letters.

Two words stand for themselves joined or apart (birth date: birthdate, birth_date). `diagn…` is a beginning, `…wage` an
ending, `=name` the whole name of a column.
"""

from __future__ import annotations

WORDS = {
    "email": "email…, e mail…, …email, courriel, correo, correo electronico",
    "phone": "phone…, …phone, mobile, fax, tel, telefon…, handy, telephone, movil, celular, cellulare, gsm, msisdn",
    "national_id": """
        ssn, social security…, social insurance…, national id…, nhs, nhs number, passport…, identity card, tax
        id…, nif, nie, dni, cpf, curp, nir, insee, pesel, bsn, personnummer, codice fiscale, steuernummer, steuer
        id…, ausweis…, personal number, driver license…, drivers license…, driving licence…, aadhaar
    """,
    "account": """
        iban, account number, account no, bank account, card number, credit card, kontonummer, kreditkarte, policy
        number, versichertennummer, insurance number, member number
    """,
    "record_id": """
        mrn, medical record…, patient id, patient no, patient number, pid, person id, customer id, client id,
        employee id, emp id, user id, userid, member id, student id, subject id, subscriber id, patienten nr,
        patienten id, kundennummer, kunden nr, personalnummer, matrikelnummer, =id, =uuid, =guid, case id, case
        number, claim id, claim number, record id, fallnummer
    """,
    "person_name": """
        surname, last name, lname, first name, fname, forename, given name, family name, maiden name, middle name,
        full name, voller name, vollstandiger name, nom complet, nombre completo, nome completo, volledige naam,
        nominativo, versicherter name, fullt namn, fulde navn,
        nickname, user name, patient name, customer name, client name, employee name, person name,
        contact name, student name, doctor name, physician name, =name, =names, vorname, nachname, familienname,
        geburtsname, rufname, prenom, nom, nom de famille, apellido…, nombre, nombres, cognome, =nome, sobrenome,
        apelido, achternaam, voornaam, =naam, imie, nazwisko, efternamn, fornamn, etternavn, fornavn, efternavn,
        sukunimi, etunimi, ad soyad, adi soyadi, soyad, soyadi, prezime, jmeno, prijmeni, meno, priezvisko, nume,
        prenume, vezeteknev, keresztnev, csaladnev, teljes nev, koko nimi, фио, имя, фамилия, отчество, прізвище, ονομα,
        επωνυμο, ονοματεπωνυμο, 氏名, 姓名, 名前, 이름, 성명, 성함, الاسم, اسم
    """,
    "address": """
        address…, street…, house number, adresse, strasse, hausnummer, anschrift, rue, direccion, calle,
        domicilio, indirizzo, endereco, adres, straat
    """,
    "network_address": "ip, ip address…, ipv 4, ipv 6, mac address, imei, device id, cookie id, advertising id",
    "likeness": "photo…, portrait, fingerprint, biometric…, signature, unterschrift, voice print",
    "vehicle": "vin, license plate…, licence plate…, number plate, kennzeichen",
    "sampling_weight": """
        sampling weight, sample weight, survey weight, design weight, person weight, household weight, replicate
        weight, final weight, pweight…, fweight, fnlwgt, wgt, wgtp, pwgtp, perwt, hhwt, hochrechnung…, gewichtung…,
        stichprobengewicht, poids de sondage, ponderation, ponderacion, factor de expansion
    """,
    "nationality": """
        nationalit…, citizen…, native country, birthplace, place of birth, country of birth, staatsangehor…,
        nacionalid…, cittadinanza, immigra…, migration…
    """,
    "sex": "sex, sexe, sexo, sesso, gender…, geschlecht, genre, genero, genere, geslacht, plec, kjonn, male, female",
    "birth_date": """
        birth…, dob, yob, date of birth, born, geburt…, gebdat, naissance, date naissance, nacimiento, nascita,
        nascimento, geboorte…, fodelse…, fodsels…, urodzenia
    """,
    "age": "age, ages, alter, edad, eta, idade, leeftijd, wiek, alder, ika, age group, altersgruppe, age band",
    "postal_code": """
        zip, zip code, zcta, postcode, postal…, plz, postleitzahl, code postal, codigo postal, cep, eircode
    """,
    "place": """
        city, town, village, county, region…, state, province, district, municip…, borough, neighbo…, country,
        nation, residence, location, wohnort, ort, stadt, gemeinde, landkreis, bundesland, land, ville, commune,
        departement, pays, ciudad, municipio, provincia, pais, citta, comune, cidade, estado, gemeente, census
        tract, block group, lsoa, msoa, hospital, clinic, school, schule, ecole
    """,
    "coordinates": "lat, lon, lng, latitude, longitude, latlon, geo…, gps…, easting, northing",
    "ethnicity": "race, racial…, ethnic…, ethnie, raza, raca, hispanic, skin colo…",
    "language": "language…, mother tongue, sprache, muttersprache, langue, idioma, lingua, taal",
    "marital_status": """
        marital…, married, marriage, spouse, widowed, divorced, single, familienstand, etat civil, situation
        familiale, estado civil, stato civile, burgerlijke staat, relationship, civil status
    """,
    "household": """
        household…, family size, children, kids, dependents, siblings, kinder, enfants, hijos, haushalt…, persons
        in household
    """,
    "occupation": """
        occupation…, job…, profession, employ…, workclass, work class, industry, indust, beruf…, branche,
        arbeitgeber, metier, ocupacion, profesion, professione, profissao, beroep, zawod, military…, veteran
    """,
    "education": """
        educ…, degree, schooling, graduat…, diploma, bildung…, abschluss, studium, estudios, istruzione, opleiding
    """,
    "body": "height, weight, bmi, hair colo…, eye colo…, groesse, gewicht, taille, poids",
    "event_date": """
        admission…, admit…, discharge…, hospitali…, visit date, death…, died, dod, aufnahme…, entlass…, enrol…,
        hire date, hired, start date, end date, date, datum, fecha
    """,
    "health": """
        diagn…, icd…, disease…, illness…, condition…, disorder…, symptom…, injur…, inj…, disab…, health…, medic…,
        drug…, therap…, treatment…, surgery, procedure, drg, hiv, cancer, diabet…, pregnan…, mental…, depress…,
        allerg…, blood…, genetic…, genom…, krank…, befund, medikament…, maladie, enfermedad, malattia, doenca,
        ziekte, chronic…, vaccin…, impf…, smok…, alcohol…, substance…, occdis, dosage, cholesterol, test result
    """,
    "income": """
        …income…, …salar…, …wage, …wages, earn…, pay, payment…, compensation, benefit…, bonus, pension…, debt…,
        loan…, credit…, balance, wealth, asset…, net worth, capital gain, capital loss, gehalt, lohn, einkommen,
        vermogen, schulden, salaire, revenu, salario, ingresos, stipendio, reddito, renda, inkomen, tax…, rent,
        mortgage…
    """,
    "religion": "relig…, faith, denomination, church, konfession, belief…",
    "politics": "politic…, party, vote…, voting, partei",
    "union": "union, trade union…, gewerkschaft, syndicat, sindicato, sindacato",
    "orientation": "sexual…, orientation, lgbt…, sexuelle…, orientierung",
    "offence": """
        crim…, offen…, convict…, arrest…, sentence…, prison…, felony, vorstrafe…, delit, delito, reato, recidiv…,
        fraud…
    """,
    "assessment": "grade…, marks, score…, exam…, iq, rating…, performance…, appraisal, zeugnis…, besoldung…",
}
"""Words separated by commas, in the order in which concepts are tried: what is special comes before what is general."""
