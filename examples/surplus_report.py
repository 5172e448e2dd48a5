"""What did county sheriffs in Kansas get from the army's surplus, when, and what was it worth?

Reads surplus_kansas.csv from the working directory, cleans it, prints a report, draws three charts and writes summary.csv.

    tools/cellblock run examples/surplus_report.py --file examples/data/surplus_kansas.csv --out out/
"""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import FuncFormatter

ACCENT, SECOND, MUTED = "#1f5f8b", "#d1495b", "#b8c4cc"


def read_items(path):
    """One row per shipment, with real dates, numbers and tidy names."""
    items = pd.read_csv(path, dtype={"fips": "string", "nsn": "string", "federal_supply_category": "string"})
    items["ship_date"] = pd.to_datetime(items["ship_date"], format="%m/%d/%Y %H:%M:%S")
    for column in ("quantity", "acquisition_cost", "total_cost"):
        items[column] = pd.to_numeric(items[column], errors="coerce")
    items["county"] = items["county"].str.strip().str.title()
    items["category"] = items["federal_supply_category_name"].str.strip().str.capitalize()
    items["item_name"] = items["item_name"].fillna("(not named)").str.strip()
    return items


def check(items):
    """What a careful reader wants to know before believing the totals."""
    # Prices have cents, so the two columns may differ by rounding alone.
    recomputed = items["quantity"] * items["acquisition_cost"]
    return pd.Series({
        "rows": len(items),
        "rows without a name": int((items["item_name"] == "(not named)").sum()),
        "rows without a price": int((items["total_cost"] == 0).sum()),
        "rows where quantity × unit price is not the total": int(((recomputed - items["total_cost"]).abs() > 0.01).sum()),
        "identical rows (shipped as single items)": int(items.duplicated().sum()),
    })


def summarize(items):
    summary = items.groupby("category").agg(
        shipments=("nsn", "size"),
        items=("quantity", "sum"),
        value_usd=("total_cost", "sum"),
        counties=("county", "nunique"),
        first=("ship_date", "min"),
        last=("ship_date", "max"),
    )
    summary["value_share"] = summary["value_usd"] / summary["value_usd"].sum()
    return summary.sort_values("value_usd", ascending=False)


def dollars(value, _position=None):
    if abs(value) >= 1e6:
        return f"${value / 1e6:,.1f}M"
    if abs(value) >= 1e3:
        return f"${value / 1e3:,.0f}k"
    return f"${value:,.0f}"


def plain_axes(ax):
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(axis="x" if ax.get_ylabel() == "" else "y", color="#e6eaed")


def chart_years(items):
    by_year = items.groupby(items["ship_date"].dt.year).agg(items=("quantity", "sum"), value=("total_cost", "sum"))
    by_year = by_year.reindex(range(by_year.index.min(), by_year.index.max() + 1), fill_value=0)
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
    top.bar(by_year.index, by_year["value"], color=ACCENT)
    top.set_ylabel("value")
    top.yaxis.set_major_formatter(FuncFormatter(dollars))
    top.set_title("Surplus shipped to Kansas counties, by year", loc="left", fontweight="bold")
    bottom.bar(by_year.index, by_year["items"], color=MUTED)
    bottom.set_ylabel("items")
    for ax in (top, bottom):
        plain_axes(ax)
    peak = by_year["value"].idxmax()
    top.annotate(f"{peak}: {dollars(by_year['value'].max())}", (peak, by_year["value"].max()), xytext=(0, 4),
                 textcoords="offset points", ha="center", color=SECOND, fontweight="bold")
    top.margins(y=0.15)
    return fig


def chart_counties(items, count=12):
    by_county = items.groupby("county")["total_cost"].sum().nlargest(count).sort_values()
    fig, ax = plt.subplots(figsize=(9, 5.5), layout="constrained")
    bars = ax.barh(by_county.index, by_county, color=[SECOND if v == by_county.max() else ACCENT for v in by_county])
    ax.bar_label(bars, labels=[dollars(v) for v in by_county], padding=4, fontsize=9)
    ax.set_title(f"The {count} counties that got the most, by value", loc="left", fontweight="bold")
    ax.xaxis.set_major_formatter(FuncFormatter(dollars))
    ax.margins(x=0.12)
    plain_axes(ax)
    return fig


def chart_prices(items):
    """Unit prices span five orders of magnitude: a log scale, one row per category."""
    priced = items[items["acquisition_cost"] > 0]
    order = priced.groupby("category")["acquisition_cost"].median().sort_values().index
    fig, ax = plt.subplots(figsize=(9, 6.5), layout="constrained")
    for row, category in enumerate(order):
        rows = priced[priced["category"] == category]
        ax.scatter(rows["acquisition_cost"], [row] * len(rows), s=14 + 6 * rows["quantity"].clip(upper=20), color=ACCENT, alpha=0.35,
                   linewidths=0)
        ax.plot(rows["acquisition_cost"].median(), row, marker="|", markersize=14, markeredgewidth=2.5, color=SECOND)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(dollars))
    ax.set_yticks(range(len(order)), order, fontsize=8)
    ax.set_title("Unit prices by category (red: median, size: quantity)", loc="left", fontweight="bold")
    plain_axes(ax)
    return fig


items = read_items("surplus_kansas.csv")
summary = summarize(items)
summary.to_csv("summary.csv", date_format="%Y-%m-%d", float_format="%.4f")

print("SURPLUS SHIPPED TO KANSAS COUNTIES")
print(f"{items['ship_date'].min():%d %b %Y} to {items['ship_date'].max():%d %b %Y}, {items['county'].nunique()} counties\n")
print(check(items).to_string(), "\n")

table = summary.head(10).copy()
table["value_usd"] = table["value_usd"].map("{:,.0f}".format)
table["value_share"] = table["value_share"].map("{:.1%}".format)
table["first"], table["last"] = table["first"].dt.year, table["last"].dt.year
print(table.to_string(), "\n")

print("Most expensive single items:")
for row in items.nlargest(5, "acquisition_cost").itertuples():
    print(f"  {dollars(row.acquisition_cost):>8}  {row.item_name.lower()}, {row.county}, {row.ship_date:%Y}")
print()

chart_years(items)      # figures that are left open are captured at the end
chart_counties(items)
prices = chart_prices(items)
prices.savefig("prices.png", dpi=120)
plt.close(prices)       # kept under its name: closed, so that it is not captured as well

{"shipments": len(items), "items": int(items["quantity"].sum()), "value_usd": round(float(items["total_cost"].sum()), 2)}
