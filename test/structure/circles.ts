import { partingOf, type SourceTree } from './source-tree.ts';

/** Which node imports which; the text says where: `plan/job.ts:3 imports plan/key.ts`. */
type Graph = Map<string, Map<string, string>>;

/** Circles of imports between files, imports of types included: one text for each, with the imports that close it. */
export function circlesOfFiles(tree: SourceTree): readonly string[] {
  const graph: Graph = new Map();
  for (const { file, imports } of tree)
    for (const { to, line } of imports) connect(graph, file, to, file, line, to);
  return circlesIn(graph).map((circle) => `files: ${circle}`);
}

/** Circles between the entries (files and sub-folders) of one folder, for every folder of the tree. */
export function circlesOfFolders(tree: SourceTree): readonly string[] {
  const graphs = new Map<string, Graph>();
  for (const { file, imports } of tree) {
    for (const { to, line } of imports) {
      const { folder, from, to: into } = partingOf(file, to);
      const graph = graphs.get(folder) ?? new Map();
      graphs.set(folder, graph);
      if (from !== into) connect(graph, from, into, file, line, to);
    }
  }
  return [...graphs].flatMap(([folder, graph]) =>
    circlesIn(graph).map((circle) => `in ${folder || '.'}: ${circle}`),
  );
}

function connect(graph: Graph, a: string, b: string, file: string, line: number, to: string): void {
  const next = graph.get(a) ?? new Map<string, string>();
  graph.set(a, next);
  if (!next.has(b)) next.set(b, `${file}:${line} imports ${to}`);
}

/**
 * One circle for each set of nodes that all reach one another: the shortest. A wrong import closes many circles at once, and
 * the shortest shows it best. What else the set holds is seen once that circle is cut.
 */
function circlesIn(graph: Graph): readonly string[] {
  const backwards: Graph = new Map();
  for (const [node, next] of graph) for (const [to, where] of next) connectBack(backwards, to, node, where);
  const seen = new Set<string>();
  const circles: string[] = [];
  for (const start of graph.keys()) {
    if (seen.has(start)) continue;
    const after = reached(graph, start);
    const before = reached(backwards, start);
    const together = [...graph.keys()].filter((node) => after.has(node) && before.has(node));
    for (const node of together) seen.add(node);
    const [shortest] = together
      .map((node) => circleThrough(graph, node) ?? [])
      .filter((circle) => circle.length > 0)
      .toSorted((one, other) => one.length - other.length);
    if (shortest === undefined) continue;
    const evidence = shortest.slice(1).map((node, index) => graph.get(shortest[index] ?? '')?.get(node));
    circles.push(`${shortest.join(' → ')} (${evidence.join('; ')})`);
  }
  return circles;
}

function connectBack(graph: Graph, a: string, b: string, where: string): void {
  graph.set(a, (graph.get(a) ?? new Map<string, string>()).set(b, where));
}

/** Every node that imports lead to from here; this one only where a circle leads back to it. */
function reached(graph: Graph, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [start];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const next of graph.get(node)?.keys() ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      queue.push(next);
    }
  }
  return found;
}

/** Breadth first from a node back to the same node: `[a, b, a]`. */
function circleThrough(graph: Graph, start: string): readonly string[] | undefined {
  const before = new Map<string, string>();
  const queue = [start];
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    for (const next of graph.get(node)?.keys() ?? []) {
      if (next === start) {
        const back = [start];
        for (let at: string | undefined = node; at !== undefined && at !== start; at = before.get(at))
          back.unshift(at);
        return [start, ...back];
      }
      if (!before.has(next)) {
        before.set(next, node);
        queue.push(next);
      }
    }
  }
  return undefined;
}
