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

/** The shortest circle through each node that lies on one; a node that a circle found before holds is not asked again. */
function circlesIn(graph: Graph): readonly string[] {
  const seen = new Set<string>();
  const circles: string[] = [];
  for (const start of graph.keys()) {
    const circle = seen.has(start) ? undefined : circleThrough(graph, start);
    if (circle === undefined) continue;
    for (const node of circle) seen.add(node);
    const evidence = circle.slice(1).map((node, index) => graph.get(circle[index] ?? '')?.get(node));
    circles.push(`${circle.join(' → ')} (${evidence.join('; ')})`);
  }
  return circles;
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
