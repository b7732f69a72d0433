import { parse } from 'yaml';
import { compileCondition, compileTemplate } from '../../src/pipeline/liquid.ts';
import type {
  BranchAddress,
  ButtonMatch,
  PathSegment,
  Pipeline,
  Selector,
  Step,
} from '../../src/pipeline/pipeline.ts';
import type { Template, TemplateTree } from '../../src/pipeline/template.ts';
import { compileTree } from '../../src/pipeline/tree.ts';
import type { Value } from '../../src/pipeline/value.ts';
import type { Cell } from '../../src/plan/cell.ts';
import type { Matrix } from '../../src/plan/matrix.ts';
import { layOut } from '../../src/plan/place.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { resolveCell } from '../../src/plan/resolve.ts';

const position = { line: 1, column: 1, length: 1 };
const locate = () => position;
const must = <T>(result: { ok: true; value: T } | { ok: false; error: unknown }): T => {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
};
const template = (text: string): Template => must(compileTemplate(text, locate));
const tree = (value: unknown): TemplateTree => must(compileTree(value as Value, () => locate));

function match(text: string): ButtonMatch {
  const words = ['reroll', 'pan left', 'pan right', 'pan up', 'pan down'] as const;
  const word = words.find((word) => word === text);
  if (word !== undefined) return { kind: 'word', word };
  if (text.startsWith('/')) return { kind: 'pattern', source: text.slice(1, -1) };
  return text.includes('*') ? { kind: 'wildcard', source: text } : { kind: 'text', text: template(text) };
}

function selector(text: string): Selector {
  const optional = text.endsWith('?');
  const name = optional ? text.slice(0, -1) : text;
  return { alternatives: name.split(' | ').map(match), optional, name, position };
}

function segment(text: string): PathSegment {
  const range = /^(.*?)(\d+)\.\.\1(\d+)(\??)$/.exec(text);
  const names =
    range === null
      ? text.split(',')
      : Array.from(
          { length: Number(range[3]) - Number(range[2]) + 1 },
          (_, i) => `${range[1]}${Number(range[2]) + i}${range[4]}`,
        );
  return { selectors: names.map(selector), position };
}

const path = (text: string | undefined): PathSegment[] =>
  (text ?? '')
    .split(/ *(?:→|->) */)
    .filter(Boolean)
    .map(segment);

function address(text: string): BranchAddress {
  const [step = '', ...segments] = text.split('/');
  return { step, segments, source: text, position };
}

interface StepText {
  imagine?: string | Record<string, unknown>;
  click?: string;
  from?: string;
  path?: string;
  when?: string;
  keep?: boolean;
  extra?: Record<string, unknown>;
}

function step(name: string, text: StepText): Step {
  const kind = text.click === undefined ? 'imagine' : 'click';
  const imagine = typeof text.imagine === 'string' ? { prompt: text.imagine } : (text.imagine ?? {});
  const after = new Set(
    [...JSON.stringify(text).matchAll(/steps\.(\w+)/g)].map(([, used]) => used as string),
  );
  const from = text.from === undefined ? undefined : address(text.from);
  if (from !== undefined) after.add(from.step);
  return {
    name,
    kind,
    ...(from === undefined ? {} : { from }),
    request: tree(imagine) as Step['request'],
    ...(text.click === undefined ? {} : { selector: selector(text.click) }),
    path: path(text.path),
    ...(text.when === undefined ? {} : { when: must(compileCondition(text.when, locate)) }),
    keep: text.keep ?? true,
    ...(text.extra === undefined ? {} : { extra: tree(text.extra) as Record<string, TemplateTree> }),
    position,
    after: [...after],
  };
}

/** A pipeline of YAML text, not validated: only the parts that planning reads. */
export function pipelineOf(text: string): Pipeline {
  const file = parse(text) as {
    steps: Record<string, StepText>;
    matrix?: Record<string, Value[]> & { repeat?: number };
    prices?: Pipeline['prices'];
    budget?: Pipeline['budget'];
  };
  const { repeat = 1, ...axes } = file.matrix ?? {};
  return {
    name: 'test',
    source: { file: 'test.yaml', folder: '/', text },
    service: {
      baseUrl: '',
      apiKey: '',
      speed: 'relax',
      names: { preset: 'neutral', own: {} },
    },
    limits: { tasks: 3, requests: 3 },
    retry: { attempts: 1, baseMs: 1, capMs: 1, resubmits: 0, ambiguous: 'retry', patienceMs: 1 },
    timeouts: { requestMs: 1, taskMs: 1 },
    poll: { minMs: 1, maxMs: 1 },
    budget: file.budget ?? {},
    prices: file.prices ?? {},
    matrix: {
      axes: Object.entries(axes).map(([name, values]) => ({ kind: 'values', name, values, position })),
      exclude: [],
      include: [],
      repeat,
      variables: Object.keys(axes),
    },
    steps: Object.entries(file.steps).map(([name, value]) => step(name, value)),
  };
}

function expand(pipeline: Pipeline): Cell[] {
  let all: Record<string, Value>[] = [{}];
  for (const axis of pipeline.matrix.axes)
    all = all.flatMap((vars) =>
      axis.kind === 'values' ? axis.values.map((value) => ({ ...vars, [axis.name]: value })) : [],
    );
  return all
    .flatMap((vars) => Array.from({ length: pipeline.matrix.repeat }, (_, i) => ({ vars, repeat: i + 1 })))
    .map((cell, index) => ({ number: index + 1, ...cell }));
}

export function planOf(text: string, serviceId = 'https://service.test'): Plan {
  const pipeline = pipelineOf(text);
  const skeleton = layOut(pipeline.steps);
  if ('tooMany' in skeleton) throw new Error('too many slots');
  const cells = expand(pipeline);
  const matrix = {
    cellCount: cells.length,
    variables: pipeline.matrix.variables,
    tables: [],
    async *cells({ limit = cells.length } = {}) {
      yield* cells.slice(0, limit);
    },
    chosen: ({ limit = cells.length } = {}) => Math.min(limit, cells.length),
  } as unknown as Matrix;
  return {
    pipeline,
    serviceId,
    skeleton,
    matrix,
    slotsPerCell: skeleton.places.length,
    hasWildcards: skeleton.places.some(({ wild }) => wild),
    resolve: (cell, lookup) => resolveCell({ serviceId, skeleton }, cell, lookup),
  };
}

export async function cellsOf(plan: Plan): Promise<Cell[]> {
  const cells: Cell[] = [];
  for await (const cell of plan.matrix.cells({})) cells.push(cell);
  return cells;
}
