import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import type { PackedResults, PageDetail, PageResult, PageSummary } from '../../src/report/results/wire.ts';

/** The data of a report, read as a browser reads them: the scripts are carried out. */
export interface ReadReport {
  readonly summary: PageSummary;
  readonly results: readonly PageResult[];
  readonly details: readonly PageDetail[];
}

export function readReport(folder: string): ReadReport {
  let summary: PageSummary | undefined;
  const results: PackedResults[] = [];
  const details: (readonly PageDetail[])[] = [];
  const promptpress = {
    summary: (given: PageSummary) => {
      summary = given;
    },
    results: (index: number, packed: PackedResults) => {
      results[index] = packed;
    },
    details: (index: number, some: readonly PageDetail[]) => {
      details[index] = some;
    },
  };
  const context = createContext({ promptpress });
  for (const name of readdirSync(join(folder, 'data')))
    runInContext(readFileSync(join(folder, 'data', name), 'utf8'), context, { filename: name });
  if (summary === undefined) throw new Error(`${folder} has no summary.`);
  // What another context has made is of other classes.
  const known = structuredClone(summary);
  return {
    summary: known,
    results: results.flatMap((packed) => unpacked(structuredClone(packed), known)),
    details: structuredClone(details.flat()),
  };
}

/** Columns as the results that they were made of. */
export function unpacked(packed: PackedResults, { steps }: Pick<PageSummary, 'steps'>): PageResult[] {
  return packed.cell.map((cell, index): PageResult => {
    const of = <T>(column: readonly T[]): T => column[index] as T;
    const text = (column: readonly string[]): string | undefined => of(column) || undefined;
    const [errorCode, errorMessage] = packed.errors[of(packed.error)] ?? [];
    const members = {
      at: packed.from + index,
      cell,
      step: steps[of(packed.step)]?.name,
      branch: packed.branches[of(packed.branch)],
      output: of(packed.output) || undefined,
      status: packed.statuses[of(packed.status)],
      kind: packed.kinds[of(packed.kind)],
      madeFrom: text(packed.madeFrom),
      job: text(packed.job),
      media: text(packed.media),
      file: text(packed.file),
      thumbnail: text(packed.thumbnail),
      width: of(packed.width) || undefined,
      height: of(packed.height) || undefined,
      prompt: packed.prompts[of(packed.prompt)],
      text: text(packed.text),
      errorCode,
      errorMessage,
      vars: packed.vars.map(({ values, value }) => values[of(value)]),
      cost: of(packed.cost) === -1 ? undefined : of(packed.cost),
      finishedAt: of(packed.finishedAt) || undefined,
      seconds: of(packed.seconds) || undefined,
    };
    return Object.fromEntries(
      Object.entries(members).filter(([, value]) => value !== undefined),
    ) as unknown as PageResult;
  });
}
