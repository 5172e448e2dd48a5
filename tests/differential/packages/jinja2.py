# files: banklist.csv
import csv

import jinja2

with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))[:40]
environment = jinja2.Environment(loader=jinja2.DictLoader({"base": "<ul>{% block body %}{% endblock %}</ul>"}), autoescape=True, undefined=jinja2.StrictUndefined)
environment.filters["short"] = lambda text: text[:12]
template = environment.from_string(
    "{% extends 'base' %}{% block body %}{% for state, banks in rows|groupby('ST') %}{% if loop.index < 4 %}<li>{{ state }}: {{ banks|length }}"
    " {{ banks|map(attribute='City')|map('short')|join(', ') }}</li>\n{% endif %}{% endfor %}{{ '<&>' }}{% endblock %}")
print(template.render(rows=rows))
for broken in ("{% for %}", "{{ missing }}", "{{ 1/0 }}"):
    try:
        environment.from_string(broken).render()
    except Exception as error:
        print(type(error).__name__, error)
jinja2.Template("{{ n|round(2) }} {{ items|tojson }}").render(n=3.14159, items=[1, None])
