# files: banklist.csv
import csv

import networkx as nx

graph = nx.DiGraph()
with open("banklist.csv", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        graph.add_edge(row["Acquiring Institution"].strip(), row["ST"].strip())
print(graph, nx.number_weakly_connected_components(graph), nx.is_bipartite(graph.to_undirected()))
print(sorted(graph.out_degree, key=lambda pair: (-pair[1], pair[0]))[:5], sorted(graph.in_degree, key=lambda pair: (-pair[1], pair[0]))[:5])
ranks = nx.pagerank(graph)
print([(name, round(rank, 6)) for name, rank in sorted(ranks.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))[:4]])
grid = nx.grid_2d_graph(6, 6)
print(nx.shortest_path_length(grid, (0, 0), (5, 5)), nx.minimum_spanning_tree(grid).size(), len(list(nx.find_cliques(nx.karate_club_graph()))))
nx.write_gml(nx.path_graph(3), "path.gml")
print(nx.read_gml("path.gml").edges, {k: v.round(5).tolist() for k, v in nx.spring_layout(nx.path_graph(3), seed=1).items()})
nx.diameter(grid)
