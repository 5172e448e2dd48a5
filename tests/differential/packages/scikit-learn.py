# files: seattle_weather.csv
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

weather = pd.read_csv("seattle_weather.csv", parse_dates=["date"])
x = weather[["precipitation", "temp_max", "temp_min", "wind"]].assign(month=weather["date"].dt.month)
y = weather["weather"] == "rain"
train_x, test_x, train_y, test_y = train_test_split(x, y, random_state=0, stratify=y)
forest = RandomForestClassifier(60, random_state=0, n_jobs=-1).fit(train_x, train_y)
print(accuracy_score(test_y, forest.predict(test_x)), confusion_matrix(test_y, forest.predict(test_x)), forest.feature_importances_.round(6))
model = make_pipeline(make_column_transformer((OneHotEncoder(), ["month"]), remainder=StandardScaler()), LogisticRegression(max_iter=500))
print(cross_val_score(model, x, y, cv=4).round(6))
print(GridSearchCV(GradientBoostingRegressor(n_estimators=20, random_state=0), {"max_depth": [2, 3]}, n_jobs=2).fit(x.drop(columns="temp_max"), x["temp_max"]).best_params_)
print(PCA(2).fit(StandardScaler().fit_transform(x)).explained_variance_ratio_.round(8), sorted(pd.Series(KMeans(3, n_init=3, random_state=0).fit_predict(x)).value_counts()))
model
