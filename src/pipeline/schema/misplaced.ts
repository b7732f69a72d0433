import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest, suggestion } from '../diagnostics/did-you-mean.ts';
import { isStepKey, isTextKind, kinds, type StepKey, stepKeys } from '../kinds.ts';
import {
  entriesOf,
  member,
  type SourceEntry,
  type SourceMapping,
  type SourceNode,
  toJson,
} from '../yaml/node.ts';
import { boxExample, flow } from './hints/examples.ts';
import { configurationKeys } from './native-keys.ts';
import type { SchemaPlace } from './place.ts';
import { keysOfBlock, keysOfOperation, keysOfPipeline, keysOfStep } from './schema.ts';

const isEmpty = (node: SourceNode): boolean => node.kind === 'scalar' && node.value === null;

/** Returns the keys that a step of any kind can have. */
export const allStepKeys = (): ReadonlySet<string> => new Set(stepKeys.flatMap(keysOfStep));

interface RegroupedSteps {
  readonly steps: readonly SourceEntry[];
  /** Names below `steps` whose values are empty or not steps. Their schema errors are replaced by the reports made here. */
  readonly explained: ReadonlySet<string>;
}

/**
 * Moves keys of a step that stand beside it into the step above: a line with too little indentation is one mistake, and the step is
 * checked as it was meant.
 */
export function regroupSteps(steps: readonly SourceEntry[], collector: DiagnosticCollector): RegroupedSteps {
  const keys = allStepKeys();
  const found: SourceEntry[] = [];
  const explained = new Set<string>();
  const added = new Map<SourceEntry, SourceEntry[]>();
  for (const entry of steps) {
    const above = found.at(-1);
    if (above === undefined || !keys.has(entry.key) || !belongsInto(above, added.get(above) ?? [], entry)) {
      found.push(entry);
      continue;
    }
    added.set(above, [...(added.get(above) ?? []), entry]);
    explained.add(entry.key).add(above.key);
  }
  return {
    steps: found.map((entry) => withEntries(entry, added.get(entry) ?? [], collector)),
    explained,
  };
}

function belongsInto(step: SourceEntry, added: readonly SourceEntry[], entry: SourceEntry): boolean {
  if (step.value.kind === 'mapping' ? step.value.entries.has(entry.key) : !isEmpty(step.value)) return false;
  if (added.some(({ key }) => key === entry.key)) return false;
  // A mapping may be a step of that name; the operation of an empty step is not one.
  return (
    entry.value.kind !== 'mapping' ||
    (isEmpty(step.value) && !entriesOf(entry.value).some(({ key }) => isStepKey(key)))
  );
}

function withEntries(
  step: SourceEntry,
  added: readonly SourceEntry[],
  collector: DiagnosticCollector,
): SourceEntry {
  const [first] = added;
  if (first === undefined) return step;
  const keys = listing(added.map(({ key }) => key));
  const stand = added.length === 1 ? 'stands' : 'stand';
  const message = `${keys} ${stand} beside the step "${step.key}", as a step would.`;
  collector.error('schema.type', first.keySpan, message, meantInside(keys, added.length, step.key));
  const own = step.value.kind === 'mapping' ? step.value.entries : new Map<string, SourceEntry>();
  const entries = new Map([...own, ...added.map((entry) => [entry.key, entry] as const)]);
  return { ...step, value: { kind: 'mapping', span: step.value.span, entries } satisfies SourceMapping };
}

/** Says that keys belong inside a block. @param keys as a message lists them */
export function meantInside(keys: string, count: number, place: string): string {
  const [are, them] = count === 1 ? ['Is', 'it'] : ['Are', 'them'];
  return `${are} ${keys} meant to be inside "${place}"? Indent ${them} further than "${place}".`;
}

/** Returns the empty blocks that are followed by their own keys or by steps, by those keys. */
export function emptyAbove(root: SourceNode): ReadonlyMap<string, string> {
  const meant = new Map<string, string>();
  const known = new Set(keysOfPipeline());
  let above: SourceEntry | undefined;
  for (const entry of entriesOf(root)) {
    if (known.has(entry.key) || entry.key.startsWith('x-')) above = entry;
    else if (above !== undefined && isEmpty(above.value) && takes(above.key, entry))
      meant.set(entry.key, above.key);
  }
  return meant;
}

/** Whether a block can have a key. Names of steps and axes are free. */
function takes(block: string, { key, value }: SourceEntry): boolean {
  if (block === 'steps') return value.kind === 'mapping';
  return block === 'matrix' || keysOfBlock(block).includes(key);
}

/** Suggests what to do about a key that a mapping does not have: many are correct, but in the wrong place. */
export function hintForKey(
  { way, node }: SchemaPlace,
  key: string,
  known: readonly string[],
  above: string | undefined,
): string {
  if (above !== undefined) return meantInside(`"${key}"`, 1, above);
  if (key.startsWith('x-')) return 'Write keys with x- at the beginning of a line, beside name and steps.';
  const misplaced = misplacedIn(way, node, key, known) ?? boxOfSides(way, node, key);
  if (misplaced !== undefined) return misplaced;
  const other = known.find((one) => one !== key && one.toLowerCase() === key.toLowerCase());
  if (other !== undefined) return `Did you mean "${other}"? Upper and lower case differ.`;
  return nearest(key, known) === undefined
    ? (elsewhere(way, key) ?? suggestion(key, known, 'keys here'))
    : suggestion(key, known, 'keys here');
}

function misplacedIn(
  way: readonly string[],
  node: SourceNode,
  key: string,
  known: readonly string[],
): string | undefined {
  const [top, , kind = ''] = way;
  if (top !== 'steps') return undefined;
  if (way.length === 3 && isStepKey(kind)) return besideOperation(kind, key, known, member(node, key));
  if (way.length !== 2) return undefined;
  if (entriesOf(member(node, key)).some((entry) => isStepKey(entry.key)))
    return `Is "${key}" meant to be a step? It stands beside "${way[1] ?? ''}": indent both alike.`;
  const own = entriesOf(node).find((entry) => isStepKey(entry.key));
  if (own === undefined || !keysOfOperation(own.key as StepKey).includes(key)) return undefined;
  return own.value.kind === 'mapping' || isEmpty(own.value)
    ? meantInside(`"${key}"`, 1, own.key)
    : `Write it inside ${own.key}: ${own.key}: { prompt: …, ${key}: … }.`;
}

/** Numeric settings of a text model, with an example of each. */
const numbers: Readonly<Record<string, number>> = {
  temperature: 0.7,
  topP: 0.9,
  topK: 40,
  maxOutputTokens: 1000,
  candidateCount: 1,
  seed: 7,
};

function configured(key: string, value: SourceNode | undefined): string {
  const written = value === undefined ? undefined : flow(toJson(value));
  const example = numbers[key];
  if (example === undefined || typeof (value === undefined ? '' : toJson(value)) === 'number')
    return `Write generationConfig: { ${key}: ${written ?? '…'} }.`;
  return `Write generationConfig: { ${key}: ${example} }; it is a number.`;
}

function besideOperation(
  kind: StepKey,
  key: string,
  known: readonly string[],
  value: SourceNode | undefined,
): string | undefined {
  if (key !== kind && keysOfStep(kind).includes(key))
    return `It is a key of the step, beside ${kind}: indent both alike.`;
  if (kind === 'best' || !isTextKind(kind)) return undefined;
  if (kinds[kind].speaks === 'native')
    return configurationKeys.includes(key) ? configured(key, value) : undefined;
  if (key === 'responseSchema' || key === 'responseJsonSchema')
    return 'For chat, write response_format: { type: json_schema, json_schema: { name: answer, schema: … } }.';
  if (/^(?:thinking|thinkingLevel|effort)$/.test(key))
    return `Set the thinking of a chat model with reasoning_effort, in extra, beside chat: extra: { reasoning_effort: ${(value === undefined ? undefined : flow(toJson(value))) ?? 'low'} }.`;
  // Usually one of OpenAI's many fields; it is meant unless it is close to a known key.
  return nearest(key, known) === undefined
    ? `Write other fields of the service in extra, beside chat: extra: { ${key}: ${(value === undefined ? undefined : flow(toJson(value))) ?? '…'} }.`
    : undefined;
}

/** Suggests the list form for a mask box that has another name and named sides. */
function boxOfSides(way: readonly string[], node: SourceNode, key: string): string | undefined {
  if (way.at(-1) !== 'shapes') return undefined;
  const round = /^(?:circle|oval|round)$/i.test(key);
  const shape = round
    ? 'ellipse'
    : (nearest(key, ['rectangle', 'ellipse']) ?? (/^(?:box|square)$/i.test(key) ? 'rectangle' : undefined));
  if (shape === undefined) return undefined;
  return `Did you mean "${shape}"? Write ${shape}: ${boxExample(member(node, key))}.`;
}

function elsewhere(way: readonly string[], key: string): string | undefined {
  if (way.length > 0 && keysOfPipeline().includes(key))
    return `"${key}" is a key of the pipeline: write it at the beginning of a line.`;
  if (way.length === 0 && /^(?:axes|axis|variables?|vars|parameters?|params?|inputs?|strategy)$/i.test(key))
    return `Values that change from cell to cell are axes of the matrix: write matrix instead of "${key}".`;
  if (way.length > 2) return undefined;
  const blocks = keysOfPipeline().filter((block) => keysOfBlock(block).includes(key));
  if (blocks.length > 0)
    return `"${key}" is a key of ${blocks.join(' and of ')}: is it meant to be inside "${blocks[0]}"?`;
  if (way.length > 0 || !allStepKeys().has(key)) return undefined;
  return `"${key}" is a key of a step, and a step has a name: steps: { grid: { ${key}: … } }.`;
}
