# What is true of every file of examples/data, found by looking at each: what its preview must say. Types are one letter a column:
# i integer, n number, t text, d date, D datetime, h time, b boolean, m mixed, e empty.

LETTERS = {"i": "integer", "n": "number", "t": "text", "d": "date", "D": "datetime", "h": "time", "b": "boolean", "m": "mixed", "e": "empty"}

# What most of them have in common.
USUAL = {"kind": "csv", "encoding": "utf-8", "has_bom": False, "newline": "\n", "delimiter": ",", "quote": None, "doublequote": False, "decimal": ".", "thousands": None,
         "header_row": 1, "header_rows": None, "skipped_rows": 0, "footer_rows": 0, "sampled": False, "error": None}

_STAR_WARS_FILMS = "Which of the following Star Wars films have you seen? Please select all that apply."

# name: (differences from the usual, types, {position: name}, {position: (missing, spellings)}, {position: (min, max)}, positions with leading zeros)
TABLES = {
    "adult_census.csv": (
        {"header_row": None, "rows": 48842}, "itititttttiiitt", {0: None, 14: None}, {0: (0, []), 1: (2799, ["?"]), 6: (2809, ["?"]), 13: (857, ["?"]), 14: (0, [])},
        {0: (17, 90), 2: (12285, 1490400), 10: (0, 99999), 12: (1, 99)}, []),
    "banklist.csv": (
        {"rows": 506, "quote": '"'}, "tttitdd", {0: "Bank Name", 6: "Updated Date"}, {5: (0, [])}, {3: (151, 58701), 5: ("2000-10-13", "2013-05-31"), 6: ("2002-11-18", "2013-05-31")}, []),
    "bikes_montreal.csv": (
        {"rows": 310, "encoding": "cp1252", "newline": "\r\n", "delimiter": ";"}, "dieiiiiiie", {0: "Date", 2: "Brébeuf (données non disponibles)", 9: "St-Urbain (données non disponibles)"},
        {1: (0, []), 2: (310, [""]), 9: (310, [""])}, {0: ("2012-01-01", "2012-11-05"), 1: (32, 7077)}, []),
    "bond_yields_preamble.csv": (
        {"rows": 143, "newline": "\r\n", "quote": '"', "header_row": 8, "skipped_rows": 7}, "d" + "n" * 26, {0: "DATE", 1: "T01.01_r1", 26: "T01.01_r27"},
        {0: (0, []), 14: (14, ["NA"]), 17: (24, ["NA"]), 24: (51, ["NA"])}, {0: ("2001-01-01", "2012-11-01"), 1: (2.29, 5.38)}, []),
    "budget_mexico_latin1.csv": (
        {"rows": 114, "encoding": "cp1252", "newline": "\r\n", "quote": '"', "thousands": ",", "footer_rows": 1}, "iiitttnt", {0: "GF_ID", 6: "Gasto total 2011", 7: "Descripción"},
        {0: (111, [""]), 3: (112, [""]), 6: (0, [])}, {0: (1, 3), 6: (55.9, 1493503.1)}, []),
    "co2_industry_pasted.csv": (
        {"rows": 14, "newline": "\r\n", "quote": '"', "thousands": ",", "header_row": 4, "skipped_rows": 3, "footer_rows": 2}, "tiiiiiiii", {0: "Year", 1: "2000", 8: "2007"}, {1: (0, [])},
        {1: (498, 120522), 8: (392, 108609)}, []),
    "co2_monthly.csv": (
        {"rows": 820}, "dnnninn", {0: "Date", 5: "Number of Days", 6: ""}, {2: (0, []), 4: (195, ["-01"]), 5: (196, ["-9.99"]), 6: (194, ["-0.99"])},
        {0: ("1958-03-01", "2026-06-01"), 2: (312.42, 432.34), 4: (2, 31)}, []),
    "doublequote.csv": (
        {"rows": 5, "quote": '"', "doublequote": True}, "ttttiittittiiiitn", {0: "INCISO", 4: "AÑO", 16: "pbi"}, {10: (2, [""]), 0: (0, [])}, {4: (2015, 2019), 16: (0.001586, 0.109327)}, []),
    "duplicate_headers.csv": ({"rows": 2}, "itiit", {0: "id", 1: "name", 2: "id", 3: "age", 4: "id"}, {}, {0: (1101, 1102)}, [4]),
    "dutch_budget_two_headers.csv": (
        {"rows": 36, "quote": '"', "thousands": " ", "header_row": 4, "header_rows": [4, 5, 6, 7], "skipped_rows": 3}, "itiiiiiiiiiiiieeeeee",
        {0: "NR.", 1: "Cluster", 2: "provincie / A / Groningen", 13: "provincie / L / Flevoland", 14: ""}, {0: (0, []), 2: (9, [""]), 19: (36, [""])}, {0: (0, 35), 2: (-1414, 566216)}, []),
    "global_temp_cr_only.csv": (
        {"rows": 133, "newline": "\r", "header_row": 4, "skipped_rows": 3}, "i" * 19, {0: "Year", 1: "Jan", 18: "SON"},
        {1: (0, []), 6: (1, ["*****"]), 13: (1, ["****"]), 14: (2, ["****"]), 16: (0, [])}, {0: (1880, 2012), 1: (-86, 88)}, []),
    "hotels_decimal_comma.csv": (
        {"rows": 638, "encoding": "cp1252", "newline": "\r\n", "delimiter": ";", "decimal": ","}, "ttdinnnt", {2: "Date", 3: "Année", 4: "Occupancy rate"}, {2: (0, [])},
        {2: ("2013-01-01", "2017-10-01"), 3: (2013, 2017), 4: (0.374379722, 0.896461837)}, []),
    "italian_municipalities.csv": (
        {"rows": 7904, "encoding": "cp1252", "newline": "\r\n", "delimiter": ";", "quote": '"'}, "ttttttttitttiitiitittttttt",
        {0: "Codice Regione", 1: "Codice dell'Unità territoriale sovracomunale \n(valida a fini statistici)", 14: "Sigla automobilistica"},
        {6: (0, []), 7: (7780, [""]), 14: (0, []), 19: (1, ["N.d."])}, {8: (1, 5), 15: (1001, 111107)}, [0, 1, 2, 3, 4, 17]),
    "json_in_cell.csv": ({"rows": 1, "quote": '"', "doublequote": True}, "it", {0: "key", 1: "val"}, {}, {}, []),
    "mayors_leading_zeros.csv": (
        {"rows": 5, "delimiter": ";"}, "ttttttd", {0: "comune", 6: "data_entrata_in_carica"}, {}, {6: ("2020-09-23", "2021-10-27")}, [0, 1, 2, 3]),
    "mental_health_utf16.csv": (
        {"rows": 327, "encoding": "utf-16", "has_bom": True, "newline": "\r\n", "quote": '"', "thousands": ","}, "tttt" + "i" * 15, {0: "Organisation_code", 3: "Reporting_period"},
        {1: (1, ["-"]), 4: (0, [])}, {4: (0, 1338), 8: (0, 99942)}, []),
    "names_iso8859_7.csv": ({"rows": 4, "encoding": "iso8859-7"}, "iit", {0: "id", 1: "age", 2: "name"}, {}, {1: (23, 39)}, []),
    "newlines_in_quotes.csv": ({"rows": 3, "quote": '"'}, "mii", {0: "a", 1: "b", 2: "c"}, {}, {1: (2, 8), 2: (3, 9)}, []),
    "number_spellings.csv": (
        {"rows": 13}, "nnnnnn", {0: "number", 5: "enum"}, {0: (1, ["NaN"]), 1: (2, ["NaN", ""])}, {0: (-99.99, 40000.0)}, []),
    "quotes_and_newlines.csv": ({"rows": 2, "quote": '"', "doublequote": True}, "im", {0: "a", 1: "b"}, {}, {0: (1, 3)}, []),
    "ragged_rows.csv": ({"rows": 10}, "mttt", {0: "id", 1: "name", 2: "name", 3: ""}, {0: (0, []), 2: (1, [""]), 3: (9, [""])}, {}, []),
    "research_funding_german.csv": (
        {"rows": 2237, "encoding": "cp1252", "newline": "\r\n", "quote": '"', "doublequote": True}, "tttt", {0: "LP", 2: "Kapitel/Titel", 3: ""},
        {0: (341, [""]), 1: (341, [""]), 2: (1608, [""]), 3: (2225, [""])}, {}, [2, 3]),
    "seasons_pipe_no_header.csv": (
        {"rows": 10, "newline": "mixed", "delimiter": "|", "header_row": None}, "tddt", {0: None, 1: None}, {}, {1: ("2013-06-01", "2015-06-01"), 2: ("2013-09-15", "2015-09-15")}, []),
    "seattle_weather.csv": ({"rows": 1461}, "dnnnnt", {0: "date", 5: "weather"}, {1: (0, [])}, {0: ("2012-01-01", "2015-12-31"), 2: (-1.6, 35.6)}, []),
    "star_wars_survey.csv": (
        {"rows": 1186, "encoding": "cp1252", "quote": '"', "header_rows": [1, 2]}, "ibb" + "t" * 6 + "i" * 6 + "t" * 15 + "bbb" + "t" * 5,
        {0: "RespondentID", 3: f"{_STAR_WARS_FILMS} / Star Wars: Episode I  The Phantom Menace", 4: f"{_STAR_WARS_FILMS} / Star Wars: Episode II  Attack of the Clones"},
        {0: (0, []), 2: (350, [""])}, {0: (3288372923, 3292879998), 9: (1, 6)}, []),
    "surplus_kansas.csv": (
        {"rows": 1575, "quote": '"'}, "ttittitnnDitit", {3: "nsn", 9: "ship_date"}, {4: (2, [""]), 9: (0, [])}, {5: (1, 62), 7: (0, 658000), 9: ("2006-04-27T00:00:00", "2014-04-17T00:00:00")}, []),
    "taiwan_big5.csv": (
        {"rows": 382, "encoding": "big5", "newline": "\r\n", "quote": '"', "doublequote": True}, "ttttttnntDttteettt", {0: "id", 1: "景點編號", 8: "景點分類代碼1"},
        {12: (287, [""]), 13: (382, [""])}, {6: (120.035934, 120.56036), 9: ("2012-09-26T12:00:00", "2012-09-26T12:00:00")}, [8]),
    "tfl_passengers.csv": (
        {"rows": 85, "newline": "\r\n"}, "t" + "n" * 12 + "e" * 8, {0: "", 1: "Millions LU journeys adjusted for odd days", 13: ""}, {0: (0, []), 13: (85, [""])}, {1: (69.5, 100.9), 7: (-7.1, 18.0)}, []),
    "thanksgiving_survey.csv": (
        {"rows": 1058, "quote": '"', "doublequote": True}, "ib" + "t" * 8 + "b" + "t" * 40 + "bttmbbbb" + "t" * 6, {0: "RespondentID", 1: "Do you celebrate Thanksgiving?", 64: "US Region"},
        {6: (84, [""]), 36: (1018, [""])}, {0: (4335894916, 4337954960)}, []),
    "timezones.csv": ({"rows": 4}, "Dh", {0: "datetime", 1: "time"}, {}, {}, []),
    "unemployment.tsv": ({"rows": 3218, "delimiter": "\t"}, "in", {0: "id", 1: "rate"}, {}, {0: (1001, 72153), 1: (0.012, 0.301)}, []),
    "utf8_bom.csv": ({"rows": 0, "has_bom": True, "newline": None}, "ee", {0: "kitten", 1: "win"}, {}, {}, []),
    "water_level_mixed_dates.csv": (
        {"rows": 7, "delimiter": ";", "quote": '"'}, "Dite", {0: "Zeit [MEZ]", 2: "Status", 3: ""}, {3: (7, [""])}, {0: ("2013-07-09T12:00:00", "2013-07-15T00:00:00"), 1: (142, 146)}, []),
}

# name: [(sheet, rows, header_row, header_rows, types, {position: name}, merged cells)]
WORKBOOKS = {
    "currency_formats.xlsx": [("Tabelle1", 2, 1, None, "tnnn", {0: "product", 3: "cost_mixed"}, [])],
    "datasets.xlsx": [("mtcars", 32, 1, None, "nininnniiii", {0: "mpg", 10: "carb"}, []), ("chickwts", 71, 1, None, "it", {1: "feed"}, []), ("quakes", 1000, 1, None, "nnini", {4: "stations"}, [])],
    "merged_cells.xlsx": [("Лист1", 0, 1, None, "e", {0: "data"}, ["A1:B3"])],
    "multiline_headers.xlsx": [("Лист1", 1, 1, [1, 4, 5], "tttt", {
        0: "Region", 1: "Caloric contribution / (%)", 2: "Cumulative impact of changes on cost of food basket / from previous quarter",
        3: "Cumulative impact of changes on cost of food basket / from baseline (%)"}, ["A1:A5", "B1:B4", "C1:D3", "C4:C5", "D4:D5"])],
    "surplus_nebraska.xlsx": [("NE data", 1036, 1, None, "ttittitnnDitit", {3: "nsn", 9: "ship_date"}, [])],
    "type_me.xlsx": [("logical_coercion", 10, 1, None, "mt", {0: "maybe boolean?"}, []), ("numeric_coercion", 7, 1, None, "mt", {}, []), ("date_coercion", 7, 1, None, "mt", {}, []),
                     ("text_coercion", 6, 1, None, "mt", {}, [])],
}

# name: (kind, rows, {key: (types, missing)})
JSON = {
    "earthquakes.json": ("json", 1707, {"type": (["text"], 0), "properties.mag": (["number"], 0), "properties.time": (["integer"], 0), "properties.felt": (["integer"], 1580),
                                        "properties.alert": (["text"], 1695), "geometry.coordinates": (["list"], 0), "id": (["text"], 0)}),
    "usagov_clicks.jsonl": ("json_lines", 1500, {"a": (["text"], 45), "c": (["text"], 297), "nk": (["integer"], 45), "ll": (["list"], 297), "_heartbeat_": (["integer"], 1455),
                                                 "kw": (["text"], 1452)}),
}

# Sentences (parts of them) that a note of the file or of a column must have.
NOTES = {
    "adult_census.csv": ["No header", "'<=50K' and '<=50K.'"], "bond_yields_preamble.csv": ["Lines 4, 5, 6", "7 lines of other text"], "budget_mexico_latin1.csv": ["1 line of remarks or totals"],
    "co2_industry_pasted.csv": ["looks like a total", "2 lines of remarks or totals"], "co2_monthly.csv": ["820 rows with more fields", "-9.99 is taken to stand for missing"],
    "duplicate_headers.csv": ["'id.1'", "'id.2'"], "dutch_budget_two_headers.csv": ["pandas leaves this as text"], "italian_municipalities.csv": ["'NA' is a value here", "'None' is a value here"],
    "mental_health_utf16.csv": ["Thousands are separated by ','", "span of two years"], "number_spellings.csv": ["Amounts with $", "percentages", "infinite"],
    "ragged_rows.csv": ["1 row with more fields", "1 row with fewer fields"], "surplus_kansas.csv": ["always midnight"], "tfl_passengers.csv": ["Percentages"],
    "thanksgiving_survey.csv": ["'None' is a value here"], "timezones.csv": ["have a time zone and some have none"], "water_level_mixed_dates.csv": ["Dates in several forms"],
    "currency_formats.xlsx": ["Shown with EUR", "Shown with CHF"], "type_me.xlsx": ["Mixed: 4 texts, 2 numbers, 2 booleans, 1 date."], "earthquakes.json": ["GeoJSON", "milliseconds since 1970"],
    "usagov_clicks.jsonl": ["seconds since 1970"], "empty.csv": ["empty"],
}
