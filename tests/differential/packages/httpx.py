# files: usagov_clicks.jsonl
import asyncio
import json

import httpx

with open("usagov_clicks.jsonl", encoding="utf-8") as file:
    clicks = [json.loads(line) for line in list(file)[:20]]


def answer(request):
    if request.url.path == "/moved":
        return httpx.Response(302, headers={"Location": "/clicks"})
    if request.url.path == "/echo":
        return httpx.Response(200, content=request.read(), headers={"X-Method": request.method})
    return httpx.Response(200 if request.url.path == "/clicks" else 404, json=clicks)


with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://example.test", follow_redirects=True) as client:
    reply = client.get("/moved", params={"q": "é"})
    print(reply.status_code, reply.url, len(reply.json()), [str(past.url) for past in reply.history])
    print(client.post("/echo", data={"a": "1 2"}).text, client.put("/echo", json={"b": [1]}).headers["X-Method"])
    try:
        client.get("/nowhere").raise_for_status()
    except httpx.HTTPStatusError as error:
        print(error)


async def several():
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://example.test") as client:
        return [reply.status_code for reply in await asyncio.gather(*(client.get(path) for path in ("/clicks", "/x", "/moved")))]


print(asyncio.run(several()))
httpx.URL("HTTP://Example.test:80/a/../b?c#d")
