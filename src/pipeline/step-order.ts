import type { Position } from './diagnostic.ts';
import { suggestion } from './near.ts';
import type { Reports } from './reports.ts';
import type { StepDraft } from './step-read.ts';

/** One reason why a step waits for another. */
interface Edge {
  readonly step: string;
  readonly position: Position;
}

/** Which steps each step waits for, and which of them never begin because they wait for each other. */
export interface StepOrder {
  readonly after: ReadonlyMap<string, readonly string[]>;
  readonly cyclic: ReadonlySet<string>;
}

/** Reports steps that are named and do not exist, and steps that wait for each other. */
export function orderOf(steps: readonly StepDraft[], reports: Reports): StepOrder {
  const names = steps.map(({ name }) => name);
  const known = new Set(names);
  const edges = new Map<string, Edge[]>();
  for (const step of steps) {
    const own: Edge[] = [];
    for (const edge of edgesOf(step)) {
      if (known.has(edge.step)) own.push(edge);
      else {
        const others = names.filter((name) => name !== step.name);
        const hint = suggestion(edge.step, others, 'other steps');
        reports.error('step.unknown', edge.position, `There is no step "${edge.step}".`, hint);
      }
    }
    edges.set(step.name, own);
  }
  const cyclic = reportCycles(names, edges, reports);
  const after = new Map([...edges].map(([name, own]) => [name, [...new Set(own.map(({ step }) => step))]]));
  return { after, cyclic };
}

function edgesOf({ from, gather, steps, names }: StepDraft): readonly Edge[] {
  return [from, gather, ...steps, ...names].flatMap((use) =>
    use === undefined ? [] : [{ step: use.step, position: use.position }],
  );
}

/** Each set of steps that wait for each other is one mistake; the shortest round through its first step is told. */
function reportCycles(
  names: readonly string[],
  edges: ReadonlyMap<string, readonly Edge[]>,
  reports: Reports,
): ReadonlySet<string> {
  const cyclic = new Set<string>();
  for (const name of names) {
    if (cyclic.has(name)) continue;
    const round = roundThrough(name, edges);
    if (round === undefined) continue;
    const first = round[0] as Edge;
    const way = [name, ...round.map(({ step }) => step)].join(' → ');
    const message = round.length === 1 ? `Step "${name}" waits for itself.` : `Steps wait for each other: ${way}.`;
    const hint = 'A step waits for the step that it is from, and for each step that its templates name.';
    reports.error('step.cycle', first.position, message, hint);
    for (const member of names) {
      if (member === name || (reaches(name, member, edges) && reaches(member, name, edges))) cyclic.add(member);
    }
  }
  return cyclic;
}

/** The shortest way from a step back to itself. */
function roundThrough(start: string, edges: ReadonlyMap<string, readonly Edge[]>): readonly Edge[] | undefined {
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

function wayBack(start: string, cameBy: ReadonlyMap<string, { edge: Edge; before: string }>): readonly Edge[] {
  const way: Edge[] = [];
  let at = start;
  do {
    const step = cameBy.get(at) as { edge: Edge; before: string };
    way.unshift(step.edge);
    at = step.before;
  } while (at !== start);
  return way;
}

function reaches(from: string, to: string, edges: ReadonlyMap<string, readonly Edge[]>): boolean {
  const seen = new Set([from]);
  for (const name of seen) {
    for (const { step } of edges.get(name) ?? []) {
      if (step === to) return true;
      seen.add(step);
    }
  }
  return false;
}
