import sympy as sp

x, y, n = sp.symbols("x y n")
print(sp.factor(x**6 - 1), sp.integrate(sp.exp(-(x**2)), (x, -sp.oo, sp.oo)), sp.solve([x + y - 3, x * y - 2], [x, y]))
print(sp.dsolve(sp.Function("f")(x).diff(x, 2) + sp.Function("f")(x)), sp.series(sp.sin(x) / x, x, 0, 7), sp.summation(1 / n**2, (n, 1, sp.oo)))
print(sp.Matrix([[2, 1], [1, 2]]).eigenvals(), sp.limit((1 + 1 / n) ** n, n, sp.oo), sp.factorint(2**61 - 3), sp.N(sp.pi, 40))
print(sp.latex(sp.Integral(sp.sqrt(x), x)), sp.pretty(sp.Rational(1, 3) * x**2, use_unicode=True))
print(sp.lambdify(x, sp.sin(x) ** 2, "numpy")(1.0))
sp.simplify((x**2 - 1) / (x - 1))
