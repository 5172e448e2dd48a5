"""A wide survey: 65 columns whose names are whole questions, most of them one column for each option that could be ticked.

    tools/cellblock run examples/survey_charts.py --file examples/data/thanksgiving_survey.csv --out out/survey_charts
"""

import matplotlib.pyplot as plt
import pandas as pd

survey = pd.read_csv("thanksgiving_survey.csv", dtype={"RespondentID": "int64"})
print(f"{len(survey)} answers to {survey.shape[1] - 1} questions; "
      f"{survey.isna().mean().gt(0.9).sum()} columns are more than nine tenths empty")


def ticked(stem):
    """Share of people who ticked each option of a question that is spread over several columns."""
    columns = [c for c in survey.columns if stem in c and " - " in c and "please specify" not in c]
    counts = survey[columns].notna().sum()
    counts.index = [c.rsplit(" - ", 1)[1].strip() for c in columns]
    return counts.drop(["None", "Other"], errors="ignore").sort_values() / survey["Do you celebrate Thanksgiving?"].eq("Yes").sum()


age, region = survey["Age"], survey["US Region"]
pies = ticked("Which type of pie")
sides = ticked("Which of these side dishes")
print("\nPies on the table:")
print(pies.sort_values(ascending=False).head(6).map("{:.0%}".format).to_string())

fig, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for ax, shares, title, color in ((axes[0], sides, "Side dishes", "#6a994e"), (axes[1], pies, "Pies", "#bc6c25")):
    bars = ax.barh(shares.index, shares, color=color)
    ax.bar_label(bars, labels=[f"{s:.0%}" for s in shares], padding=3, fontsize=8)
    ax.set_title(title, loc="left", fontweight="bold")
    ax.xaxis.set_visible(False)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.margins(x=0.12)

gravy = pd.crosstab(region, survey["Do you typically have gravy?"], normalize="index")["Yes"].sort_values()
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.hlines(gravy.index, gravy.min() - 0.02, gravy, color="#ddd")
ax.plot(gravy, gravy.index, "o", color="#7f4f24", markersize=9)
ax.set_title("Gravy, by region (share who have it)", loc="left", fontweight="bold")
ax.xaxis.set_major_formatter("{x:.0%}")
ax.spines[["top", "right", "left"]].set_visible(False)

travel = pd.crosstab(age, survey["How far will you travel for Thanksgiving?"].str.split("--").str[0].str.strip())
travel.to_csv("travel_by_age.csv")
travel.div(travel.sum(axis=1), axis=0).round(2)
