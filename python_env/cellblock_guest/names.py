# Near names: which of the names that are there a misspelt one was probably meant to be. Pure text; bounded in time.

import difflib

CANDIDATES_MAX = 5000
NAME_CHARACTERS_MAX = 200


def _plain(name):
    return "".join(character for character in name.casefold() if character.isalnum())


def near(name, candidates, count=3):
    """Up to count candidates, best first: the same but for case, blanks and punctuation, then the similar ones, then those that contain it."""
    name = name[:NAME_CHARACTERS_MAX]
    names = []
    for candidate in candidates:
        if isinstance(candidate, str) and candidate != name and len(candidate) <= NAME_CHARACTERS_MAX:
            names.append(candidate)
            if len(names) >= CANDIDATES_MAX:
                break
    plain = _plain(name)
    by_plain = {}
    for candidate in names:
        by_plain.setdefault(_plain(candidate), []).append(candidate)
    found = list(by_plain.get(plain, ()))
    if len(found) < count and plain:
        similar = [p for p in by_plain if p and abs(len(p) - len(plain)) <= max(2, len(plain) // 2)]
        for match in difflib.get_close_matches(plain, similar[:2000], n=count, cutoff=0.7):
            found += [candidate for candidate in by_plain[match] if candidate not in found]
    if len(found) < count and len(plain) >= 4:
        found += [c for p, cs in by_plain.items() if len(p) >= 4 and (plain in p or p in plain) for c in cs if c not in found]
    return found[:count]


def listed(names, count=12):
    """Names as text, cut at count."""
    names = list(names)
    return ", ".join(names[:count]) + (f", … ({len(names)} in all)" if len(names) > count else "")
