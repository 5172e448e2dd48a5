# files: seattle_weather.csv
import hashlib
import io

from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps, features

picture = Image.new("RGB", (320, 200), "white")
draw = ImageDraw.Draw(picture)
with open("seattle_weather.csv", encoding="utf-8") as file:
    for x, line in enumerate(list(file)[1:321]):
        height = float(line.split(",")[2]) * 4
        draw.line((x, 199, x, 199 - height), fill=(int(height) % 256, 80, 200 - x // 2))
draw.text((10, 10), "Seattle", fill="black", font=ImageFont.load_default(18))
for change in (ImageOps.grayscale, ImageOps.mirror, lambda p: p.filter(ImageFilter.GaussianBlur(2)), lambda p: p.resize((64, 40), Image.Resampling.LANCZOS), lambda p: p.rotate(30, expand=True)):
    result = change(picture)
    print(result.size, result.mode, hashlib.sha256(result.tobytes()).hexdigest()[:24])
for kind in ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"):
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    again = Image.open(io.BytesIO(buffer.getvalue()))
    print(kind, len(buffer.getvalue()), again.size, again.mode, hashlib.sha256(again.convert("RGB").tobytes()).hexdigest()[:24])
print({name: features.check(name) for name in ("jpg", "webp", "freetype2", "zlib", "raqm")})
sum(picture.convert("L").histogram()[:128])
