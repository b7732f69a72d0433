import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import type { Position } from '../diagnostics/diagnostic.ts';
import { suggestion } from '../diagnostics/did-you-mean.ts';
import { meantOutput } from './branch.ts';
import type { StepDraft } from './draft.ts';

interface Edge {
  readonly step: string;
  readonly position: Position;
}

/** The steps that each step waits for, and the steps that can never begin because of a cycle. */
export interface StepOrder {
  readonly after: ReadonlyMap<string, readonly string[]>;
  /** Steps in a cycle, and steps that wait for one of them. */
  readonly stuck: ReadonlySet<string>;
}

/** Reports references to missing steps, and steps that wait for each other. */
export function orderOf(steps: readonly StepDraft[], collector: DiagnosticCollector): StepOrder {
  const names = steps.map(({ name }) => name);
  const known = new Set(names);
  const edges = new Map<string, Edge[]>();
  for (const step of steps) {
    const own: Edge[] = [];
    for (const edge of edgesOf(step)) {
      if (known.has(edge.step)) own.push(edge);
      else {
        const hint = (): string =>
          slashHint(edge.step, known) ??
          suggestion(
            edge.step,
            names.filter((name) => name !== step.name),
            'other steps',
          );
        collector.error('step.unknown', edge.position, `There is no step "${edge.step}".`, hint);
      }
    }
    edges.set(step.name, own);
  }
  const after = new Map([...edges].map(([name, own]) => [name, [...new Set(own.map(({ step }) => step))]]));
  const before = reversed(after);
  const cyclic = reportCycles(names, edges, { after, before }, collector);
  return { after, stuck: reach(cyclic, before) };
}

/** Suggests a slash for a branch that is written with a dot, as results are, and for an output. */
function slashHint(written: string, known: ReadonlySet<string>): string | undefined {
  const output = meantOutput({ step: written, segments: [] });
  if (output !== undefined && known.has(output.slice(0, output.indexOf('/')))) return `Write ${output}.`;
  const [step = '', ...branches] = written.split('.');
  return branches.length > 0 && known.has(step)
    ? `Write a branch with a slash: ${[step, ...branches].join('/')}.`
    : undefined;
}

function edgesOf({ from, gather, steps, names }: StepDraft): readonly Edge[] {
  return [from, gather, ...steps, ...names].flatMap((use) =>
    use === undefined ? [] : [{ step: use.step, position: use.position }],
  );
}

/** Reports each set of steps that wait for each other once, with the shortest cycle through its first step. */
function reportCycles(
  names: readonly string[],
  edges: ReadonlyMap<string, readonly Edge[]>,
  { after, before }: { readonly after: Graph; readonly before: Graph },
  collector: DiagnosticCollector,
): ReadonlySet<string> {
  const cyclic = new Set<string>();
  for (const name of names) {
    if (cyclic.has(name)) continue;
    const round = roundThrough(name, edges);
    if (round === undefined) continue;
    const first = round[0] as Edge;
    const way = [name, ...round.map(({ step }) => step)].join(' → ');
    const message =
      round.length === 1 ? `Step "${name}" waits for itself.` : `Steps wait for each other: ${way}.`;
    const hint = `A step waits for the steps in from and gather, and for each step that its templates name. Remove one of these references: the first step has no from, for example ${name}: { imagine: a fox }.`;
    collector.error('step.cycle', first.position, message, hint);
    const needs = reach([name], after);
    for (const member of reach([name], before)) if (needs.has(member)) cyclic.add(member);
  }
  return cyclic;
}

function roundThrough(
  start: string,
  edges: ReadonlyMap<string, readonly Edge[]>,
): readonly Edge[] | undefined {
  const cameBy = new Map<string, { edge: Edge; before: string }>();
  const queue = [start];
  for (const name of queue) {
    for (const edge of edges.get(name) ?? []) {
      if (cameBy.has(edge.step)) continue;
      cameBy.set(edge.step, { edge, before: name });
      if (edge.step === start) return wayBack(start, cameBy);
      queue.push(edge.step);
    }
  }
  return undefined;
}

function wayBack(
  start: string,
  cameBy: ReadonlyMap<string, { edge: Edge; before: string }>,
): readonly Edge[] {
  const way: Edge[] = [];
  let at = start;
  do {
    const step = cameBy.get(at) as { edge: Edge; before: string };
    way.unshift(step.edge);
    at = step.before;
  } while (at !== start);
  return way;
}

type Graph = ReadonlyMap<string, readonly string[]>;

function reach(start: Iterable<string>, graph: Graph): ReadonlySet<string> {
  const reached = new Set(start);
  for (const name of reached) for (const next of graph.get(name) ?? []) reached.add(next);
  return reached;
}

function reversed(graph: Graph): Graph {
  const result = new Map<string, string[]>();
  for (const [name, nexts] of graph) {
    for (const next of nexts) result.set(next, [...(result.get(next) ?? []), name]);
  }
  return result;
}
