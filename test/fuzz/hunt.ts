import { inputAt } from './generate/generate.ts';
import { type Input, type Kind, kinds, piece } from './input.ts';
import { budget, Reader, type ReaderResult } from './reader.ts';
import { shrink } from './shrink.ts';

/** What to hunt through. */
export interface Hunt {
  readonly seed: number;
  readonly inputs: number;
  readonly only?: Kind;
  /** Processes that read at the same time. */
  readonly readers: number;
  /** Findings after which it is enough. */
  readonly most: number;
  readonly found?: (finding: Finding) => void;
}

/** An input that an input may not be. */
export interface Finding {
  /** `inputAt` makes it again. */
  readonly index: number;
  readonly what: string;
  readonly smallest: Input;
}

/** What the inputs of one kind took. */
export interface Figures {
  inputs: number;
  /** Met with an error; the others were valid. */
  refused: number;
  worstMs: number;
  worstMsAt: number;
  worstBytes: number;
  worstBytesAt: number;
}

export interface Bag {
  readonly figures: ReadonlyMap<Kind, Figures>;
  readonly findings: readonly Finding[];
  /** How often each code was met. */
  readonly codes: ReadonlyMap<string, number>;
}

const warmUp: Input = {
  kind: 'pipeline',
  form: 'yaml',
  chunk: 0,
  pieces: [piece('name: t\nsteps: { grid: { imagine: "{{ a }}" } }\n')],
};

const isWithin = ({ ms, bytes, broken }: ReaderResult): boolean =>
  broken === undefined && ms <= budget.ms && bytes <= budget.bytes;

const mebi = 1024 * 1024;

function wrong({ ms, bytes, broken }: ReaderResult): string {
  if (broken !== undefined) return broken;
  if (ms > budget.ms) return `It took ${Math.round(ms)} ms.`;
  return `It took ${Math.round(bytes / mebi)} MB.`;
}

/** An input by itself, in a process that has read only what everything needs. */
async function alone(input: Input): Promise<ReaderResult> {
  await using reader = new Reader();
  await reader.read(warmUp);
  return await reader.read(input);
}

/** Reads many hostile inputs. Every input is either valid or an error, in bounded time and memory, or it is a finding. */
export async function hunt({ seed, inputs, only, readers, most, found }: Hunt): Promise<Bag> {
  const figures = new Map<Kind, Figures>();
  const findings: Finding[] = [];
  const codes = new Map<string, number>();
  const known = new Set<string>();
  let next = 0;

  const note = (kind: Kind, index: number, result: ReaderResult): void => {
    const sum = figures.get(kind) ?? {
      inputs: 0,
      refused: 0,
      worstMs: 0,
      worstMsAt: 0,
      worstBytes: 0,
      worstBytesAt: 0,
    };
    figures.set(kind, sum);
    sum.inputs += 1;
    if (
      result.codes.some((code) => (code.includes('.') && code !== 'matrix.unused-axis') || code === 'exit 2')
    )
      sum.refused += 1;
    if (result.ms > sum.worstMs) [sum.worstMs, sum.worstMsAt] = [result.ms, index];
    if (result.bytes > sum.worstBytes) [sum.worstBytes, sum.worstBytesAt] = [result.bytes, index];
    for (const code of result.codes) codes.set(code, (codes.get(code) ?? 0) + 1);
  };

  const readNext = async (reader: Reader, index: number): Promise<void> => {
    const input = inputAt(seed, index, only);
    let result = await reader.read(input);
    // Memory that an earlier input left, or code not compiled yet, is not this input's: measured again, alone.
    if (!isWithin(result)) result = await alone(input);
    note(input.kind, index, result);
    if (isWithin(result)) return;
    const what = wrong(result);
    // The same place in the sources is the same finding.
    const signature = what.split('\n', 2).join('\n');
    if (result.broken !== undefined && known.size === known.add(signature).size) return;
    const hangs = result.ms >= budget.wallMs;
    // What is measured needs a process of its own each time; what is broken shows in any.
    const again = result.broken === undefined ? alone : (candidate: Input) => reader.read(candidate);
    const attempts = hangs ? 2 : result.broken === undefined ? 12 : 200;
    const smallest = await shrink(input, async (candidate) => !isWithin(await again(candidate)), attempts);
    const finding = { index, what, smallest };
    findings.push(finding);
    found?.(finding);
  };

  const work = async (): Promise<void> => {
    await using reader = new Reader();
    await reader.read(warmUp);
    while (next < inputs && findings.length < most) await readNext(reader, next++);
  };
  await Promise.all(Array.from({ length: readers }, work));
  return {
    figures: new Map(
      kinds.flatMap((kind) => (figures.has(kind) ? [[kind, figures.get(kind) as Figures]] : [])),
    ),
    findings,
    codes,
  };
}
