# files: usagov_clicks.jsonl
import io

import requests
from requests.adapters import BaseAdapter

with open("usagov_clicks.jsonl", "rb") as file:
    content = b"[" + b",".join(file.read().splitlines()[:20]) + b"]"


class FromMemory(BaseAdapter):
    """Answers without a network."""

    def send(self, request, **options):
        response = requests.Response()
        response.request, response.url, response.status_code = request, request.url, 404 if "missing" in request.url else 200
        response.headers.update({"Content-Type": "application/json", "Set-Cookie": "a=1"})
        response.raw = io.BytesIO(content)
        return response

    def close(self):
        pass


session = requests.Session()
session.mount("mem://", FromMemory())
session.headers["User-Agent"] = "test"
answer = session.get("mem://clicks", timeout=3)
print(answer.status_code, len(answer.json()), answer.encoding, answer.json()[0].get("tz"))
try:
    session.get("mem://missing").raise_for_status()
except requests.HTTPError as error:
    print(error)
request = requests.Request("POST", "http://example.test/a b?x=1", params={"y": ["é", 2]}, json={"k": None}, auth=("user", "pass"), cookies={"c": "d"}).prepare()
print(request.url, request.body, dict(request.headers))
upload = requests.Request("POST", "http://example.test/", files={"f": ("a.txt", b"data")}, data={"n": "1"}).prepare()
print(upload.headers["Content-Type"].split(";")[0], len(upload.body))
for wrong in ("no-scheme", "http://", "ftp://example.test"):
    try:
        session.get(wrong)
    except requests.RequestException as error:
        print(type(error).__name__)
requests.utils.get_encodings_from_content('<meta charset="big5">')
