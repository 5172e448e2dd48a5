# files: seattle_weather.csv
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.tsa.seasonal import STL
from statsmodels.tsa.statespace.sarimax import SARIMAX

weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"]).set_index("date")
weather["month"] = weather.index.month
fitted = smf.ols("temp_max ~ temp_min + wind + C(month)", weather).fit()
print(fitted.params.round(6), fitted.rsquared.round(8), fitted.f_pvalue < 1e-10, sm.stats.durbin_watson(fitted.resid).round(6))
logit = sm.Logit((weather["precipitation"] > 0).astype(int), sm.add_constant(weather[["temp_min", "wind"]])).fit(disp=False)
print(logit.params.round(5).to_dict(), round(logit.prsquared, 6))
monthly = weather["temp_max"].resample("MS").mean()
print(STL(monthly, period=12).fit().seasonal.head(3).round(5))
print(SARIMAX(monthly, order=(1, 0, 0), trend="c").fit(disp=False).forecast(2).round(3))
fitted.nobs
