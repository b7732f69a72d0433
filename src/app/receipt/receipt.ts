import { createHash } from 'node:crypto';
import type { ManifestTotals } from '../../manifest/tally.ts';
import type { AxisSetting } from '../../pipeline/pipeline.ts';
import { isObject } from '../../pipeline/values/value.ts';
import type { Selection } from '../../plan/cell.ts';
import type { SettledStep } from '../../plan/estimate/settled.ts';
import type { InputTable } from '../../report/facts/run.ts';
import type { RunService } from '../../report/facts/services.ts';
import type { StateReader } from '../../state/reader.ts';
import { receiptFact } from '../../state/store.ts';
import { version } from '../version.ts';
import type { SeenFile } from './seen-file.ts';

/** A pipeline, and all that a user says of a run that decides what is left to do. */
export interface RunIdentity {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly set?: readonly AxisSetting[];
  readonly service: RunService;
  /** Folder that all files of the pipeline must lie in, links resolved. */
  readonly filesRoot: string;
  readonly selection: Selection;
}

/** An image that the pipeline names, by the path that a template rendered. */
interface SeenImage {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** The manifest as the run wrote it. */
export interface WrittenManifest {
  readonly file: SeenFile;
  readonly escapeFormulas: boolean;
  /** Some text was a secret and is masked. */
  readonly masked: boolean;
}

/**
 * What a run noted that found, or left, nothing to do: of what its plan was made, and what came of it. While all of that is
 * unchanged, another run has nothing to do either, and its manifest is there.
 */
export interface Receipt {
  /** {@link identityText} of the run; empty: it left something to do, and its settled cells alone are of use. */
  readonly identity: string;
  readonly tables: readonly InputTable[];
  readonly images: readonly SeenImage[];
  /** {@link baseText} of a run of the whole plan; absent: of a part of it. */
  readonly base?: string;
  /** Of the file of its settled cells; absent: there is none. */
  readonly settled?: string;
  /** The files that were read. */
  readonly files: readonly SeenFile[];
  /** Cells of the matrix. */
  readonly cells: number;
  /** {@link witnessOf} the state. */
  readonly witness: string;
  readonly totals: ManifestTotals;
  /** What a plan says of the slots of each step; absent: of a part of the plan, or more than can be counted. */
  readonly steps?: Readonly<Record<string, SettledStep>>;
  readonly manifest: WrittenManifest;
}

/** As JSON, with the release: another release may plan otherwise. */
export function identityText({ path, text, set = [], service, filesRoot, selection }: RunIdentity): string {
  const { limit, filters = [], shard, only = [] } = selection;
  return JSON.stringify({
    version,
    path,
    sha256: createHash('sha256').update(text).digest('hex'),
    set,
    service: [service.id, service.origin],
    filesRoot,
    selection: [limit, filters.map(({ axis, value }) => [axis, value]), shard, only],
  });
}

/**
 * {@link identityText} of all but the values of the matrix, and of a whole plan. Undefined where the rest of the text may depend on
 * the matrix: a part of it has a name that is used elsewhere.
 */
export function baseText(identity: RunIdentity): string | undefined {
  const lines = identity.text.split('\n');
  const from = lines.findIndex((line) => /^matrix[ \t]*:/.test(line));
  if (from < 0 || lines.filter((line) => /^matrix[ \t]*:/.test(line)).length > 1) return undefined;
  const length = lines.slice(from + 1).findIndex((line) => /^[^\s#]/.test(line));
  const to = length < 0 ? lines.length : from + 1 + length;
  if (lines.slice(from, to).some((line) => /(?:^|[\s[{,])[&*][^\s,[\]{}]/.test(line))) return undefined;
  const rest = [...lines.slice(0, from), ...lines.slice(to)].join('\n');
  // Documents, tags, and keys that are not written plainly: what belongs to what is then not seen in the text.
  if (/^(?:---|\.\.\.|%|\?|[{["'!])/m.test(rest)) return undefined;
  return identityText({ ...identity, text: rest, selection: {} });
}

/**
 * Numbers of a state that nearly every change moves. The receipt itself goes with each change (`receiptFact`); a program that does not
 * know it would leave it there.
 */
export async function witnessOf(state: StateReader): Promise<string> {
  const { known } = await state.submissions();
  return JSON.stringify([known, await state.lastNumber(), await state.totals()]);
}

/** True where jobs are neither under way nor in doubt nor left over: a run takes all of these up again. */
export async function isAtRest(state: StateReader): Promise<boolean> {
  const { jobs } = await state.totals();
  const { done: _done, failed: _failed, ...open } = jobs;
  return Object.values(open).every((count) => count === 0);
}

/** The receipt of a state; undefined where there is none, or none that can be understood. */
export async function readReceipt(state: Pick<StateReader, 'fact'>): Promise<Receipt | undefined> {
  const text = (await state.fact(receiptFact)) ?? '';
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isReceipt(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const receiptText = (receipt: Receipt): string => JSON.stringify(receipt);

const isReceipt = (value: unknown): value is Receipt =>
  isObject(value) &&
  typeof value['identity'] === 'string' &&
  typeof value['witness'] === 'string' &&
  Number.isSafeInteger(value['cells']) &&
  (value['base'] === undefined || typeof value['base'] === 'string') &&
  (value['settled'] === undefined || typeof value['settled'] === 'string') &&
  Array.isArray(value['tables']) &&
  Array.isArray(value['images']) &&
  Array.isArray(value['files']) &&
  value['files'].every(isSeenFile) &&
  isObject(value['totals']) &&
  (value['steps'] === undefined || isObject(value['steps'])) &&
  isObject(value['manifest']) &&
  isSeenFile(value['manifest']['file']) &&
  typeof value['manifest']['escapeFormulas'] === 'boolean' &&
  typeof value['manifest']['masked'] === 'boolean';

const isSeenFile = (value: unknown): value is SeenFile =>
  isObject(value) &&
  ['path', 'realPath', 'identity', 'sha256'].every((name) => typeof value[name] === 'string') &&
  typeof value['young'] === 'boolean';
