import mpmath as mp

mp.mp.dps = 50
print(mp.pi, mp.zeta(3), mp.gamma(mp.mpf(1) / 3), mp.quad(lambda t: mp.exp(-t * t), [-mp.inf, mp.inf]), sep="\n")
print(mp.findroot(mp.cos, 1.5), mp.polyroots([1, 0, -2]), mp.nstr(mp.matrix([[1, 2], [3, 4]]) ** -1, 10), mp.identify(mp.sqrt(2)))
mp.nsum(lambda n: (-1) ** n / (2 * n + 1), [0, mp.inf])
