import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { listing, nearest } from '../diagnostics/did-you-mean.ts';
import { isPress, isStepKey, type StepKey, stepKeys } from '../kinds.ts';
import type { StepKind } from '../pipeline.ts';
import {
  entriesOf,
  isText,
  member,
  type SourceEntry,
  type SourceMapping,
  type SourceNode,
  toJson,
} from '../yaml/node.ts';
import { loosePrompt } from './joined.ts';
import { reportSchemaErrors } from './message.ts';
import { allStepKeys, regroupSteps } from './misplaced.ts';
import { type SchemaError, schemaErrorsOf } from './schema.ts';

/** A step of the file. */
export interface StepNode {
  readonly entry: SourceEntry;
  readonly name: string;
  /** The key that says what it does; absent if it has none or several. */
  readonly key?: StepKey;
  /** The step's mapping; a mistyped kind key is replaced by the correct name. */
  readonly node: SourceMapping;
}

/** Same limit as in the schema. */
const maxSteps = 1000;

/** Checks the file against the language's schema, step by step. Returns the steps that are mappings. */
export async function checkSchema(
  root: SourceNode,
  collector: DiagnosticCollector,
): Promise<readonly StepNode[]> {
  // The schema reports too many steps; single steps are then not checked.
  const written = entriesOf(member(root, 'steps')).slice(0, maxSteps);
  const { steps, explained } = regroupSteps(written, collector);
  const errors = (await schemaErrorsOf('file', toJson(root))).filter(
    ({ instancePath }) => !(instancePath.startsWith('/steps/') && explained.has(instancePath.slice(7))),
  );
  reportSchemaErrors(errors, root, undefined, collector);
  const found: StepNode[] = [];
  for (const entry of steps) {
    if (entry.value.kind !== 'mapping') continue;
    const step = readStep(entry, entry.value, collector);
    found.push(step);
    if (step.key === undefined) checkKeys(step, collector);
    else reportSchemaErrors(await errorsOfStep(step, step.key), step.node, entry, collector);
  }
  return found;
}

async function errorsOfStep({ node }: StepNode, key: StepKey): Promise<readonly SchemaError[]> {
  const errors = await schemaErrorsOf(key, toJson(node));
  if (key === 'best' || !isPress(key) || !node.entries.has('gather')) return errors;
  // A click that gathers is one error (`step.gather-click`), but two errors for the schema.
  return errors.filter(
    ({ instancePath, params }) =>
      instancePath !== '' ||
      (params['additionalProperty'] !== 'gather' && params['missingProperty'] !== 'from'),
  );
}

const kindsHint = `A step has exactly one of ${stepKeys.join(', ')}.`;

/** Suggests how to write a second operation of a step: as a path, or as a separate step. */
function hintForSecond(name: string, first: SourceEntry, second: SourceEntry): string {
  const click = [first, second].find(({ key }) => isPress(key as StepKind));
  const label = isText(click?.value) && click.value.value.length <= 60 ? click.value.value : '…';
  const other = `${name.replace(/\d{1,9}$/, '')}2`;
  if (click === undefined)
    return `A step has one operation: put ${second.key} into a separate step, for example ${other}.`;
  return `A step has one operation. A path presses further buttons: write path: ${label} in place of click: ${label}; or make a second step, ${other}: { from: ${name}, click: ${label} }.`;
}

function readStep(entry: SourceEntry, node: SourceMapping, collector: DiagnosticCollector): StepNode {
  const name = entry.key;
  const kinds = entriesOf(node).filter(({ key }) => isStepKey(key));
  const [first, second] = kinds;
  if (first !== undefined && second === undefined) return { entry, name, node, key: first.key as StepKey };
  if (second !== undefined) {
    const words = kinds.map(({ key }) => key).join(' and ');
    collector.error('step.kind', second.keySpan, `Step "${name}" has several operations: ${words}.`, () =>
      hintForSecond(name, first as SourceEntry, second),
    );
    return { entry, name, node };
  }
  const mistyped = mistypedKind(node);
  if (mistyped === undefined) {
    const prompt = loosePrompt(name, node);
    if (prompt === undefined)
      collector.error('step.kind', entry.keySpan, `Step "${name}" has no operation.`, kindsHint);
    else collector.error(prompt.code, prompt.span, prompt.message, prompt.hint);
    return { entry, name, node };
  }
  const { wrong, key: meant } = mistyped;
  const message = `"${wrong.key}" is not a key of a step.`;
  collector.error('schema.unknown-key', wrong.keySpan, message, `Did you mean "${meant}"?`);
  const entries = [...node.entries].map(([key, value]): [string, SourceEntry] =>
    key === wrong.key ? [meant, { ...wrong, key: meant }] : [key, value],
  );
  return { entry, name, key: meant, node: { ...node, entries: new Map(entries) } };
}

function mistypedKind(node: SourceMapping): { wrong: SourceEntry; key: StepKey } | undefined {
  const known = allStepKeys();
  for (const wrong of entriesOf(node)) {
    if (known.has(wrong.key)) continue;
    const key = nearest(wrong.key, stepKeys);
    if (key !== undefined && isStepKey(key)) return { wrong, key };
  }
  return undefined;
}

/** Checks the keys of a step of unknown kind: no schema applies, but a key of no kind is always an error. */
function checkKeys(step: StepNode, collector: DiagnosticCollector): void {
  const known = allStepKeys();
  for (const { key, keySpan } of entriesOf(step.node)) {
    if (known.has(key)) continue;
    const near = nearest(key, known);
    const hint = near === undefined ? `The keys are ${listing([...known], 20)}.` : `Did you mean "${near}"?`;
    collector.error('schema.unknown-key', keySpan, `"${key}" is not a key of a step.`, hint);
  }
}
