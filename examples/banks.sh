#!/usr/bin/env bash
# Failed US banks with the tools of the shell: awk, sort, sqlite3, jq. The same jail, limits and record as Python has.
#
#     tools/cellblock run examples/banks.sh --file examples/data/banklist.csv --out out/banks
set -euo pipefail

echo "$(($(wc -l < banklist.csv) - 1)) banks failed"

# A comma inside quotes is no separator: sqlite3 reads CSV properly, awk -F, would not.
sqlite3 -batch banks.db <<'SQL'
.mode csv
.import banklist.csv banks
CREATE TABLE failures AS
  SELECT "Bank Name" AS bank, City AS city, ST AS state, "Acquiring Institution" AS buyer,
         2000 + substr("Closing Date", -2) AS year
  FROM banks;
SQL

echo "By year:"
sqlite3 -batch -separator ' ' banks.db "SELECT year, count(*) FROM failures GROUP BY year ORDER BY year" |
  awk '{ bar = ""; for (i = 0; i < $2 / 4; i++) bar = bar "#"; printf "  %s %4d %s\n", $1, $2, bar }'

echo "States with the most:"
sqlite3 -batch -separator ' ' banks.db "SELECT state, count(*) FROM failures GROUP BY state" | sort -k2,2nr -k1,1 | head -5

sqlite3 -batch -json banks.db "SELECT * FROM failures WHERE year = 2013 ORDER BY bank" > failures_2013.json
echo "2013: $(jq length failures_2013.json) banks, the first: $(jq -r '.[0] | "\(.bank), \(.city)"' failures_2013.json)"
rm banks.db
