import { mkdirSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { PackedResults, PageDetail, PageStatus, PageSummary } from '../../src/report/results/wire.ts';
import { perCell, type Row, rowsOfCell } from './rows.ts';

const built = fileURLToPath(new URL('../../dist/page', import.meta.url));

export interface MadeUp {
  readonly cells: number;
  /** Cells of which the grid fails. */
  readonly failing?: (cell: number) => boolean;
  readonly name?: string;
}

/** Writes a run directory with a report of made-up results into a folder; returns the report's page. */
export async function writeReport(folder: string, madeUp: MadeUp): Promise<string> {
  const report = join(folder, 'report');
  await cp(built, report, { recursive: true });
  await drawPictures(folder, report);
  const { failing = (cell) => cell % 11 === 10, cells, name = 'foxes' } = madeUp;
  const summary = summaryOf(name, cells, failing);
  mkdirSync(join(report, 'data'), { recursive: true });
  const script = (file: string, call: string, data: unknown): void => {
    const text = JSON.stringify(JSON.stringify(data));
    writeFileSync(join(report, 'data', file), `promptpress.${call}JSON.parse(${text}));\n`);
  };
  script('summary.js', 'summary(', summary);
  const { resultsPerFile, detailsPerFile } = summary.files as NonNullable<PageSummary['files']>;
  let [chunk, detailChunk]: [number, number] = [0, 0];
  let rows: Row[] = [];
  let details: PageDetail[] = [];
  const number = (n: number): string => String(n).padStart(5, '0');
  const flush = (resultsAtLeast: number, detailsAtLeast: number): void => {
    while (rows.length >= resultsAtLeast)
      script(`results-${number(chunk)}.js`, `results(${chunk++},`, packed(rows.splice(0, resultsPerFile)));
    while (details.length >= detailsAtLeast)
      script(
        `details-${number(detailChunk)}.js`,
        `details(${detailChunk++},`,
        details.splice(0, detailsPerFile),
      );
  };
  for (let cell = 0; cell < cells; cell += 1) {
    const more = rowsOfCell(cell, failing);
    rows = [...rows, ...more];
    details = [...details, ...more.map(({ detail }) => detail)];
    flush(resultsPerFile, detailsPerFile);
  }
  flush(1, 1);
  return join(report, 'index.html');
}

/** What a summary says of made-up results. */
export function summaryOf(name: string, cells: number, failing: (cell: number) => boolean): PageSummary {
  const statuses: Partial<Record<PageStatus, number>> = {};
  const values = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const groups = new Map<
    string,
    { code: string; message: string; results: number; examples: number[]; steps: Record<string, number> }
  >();
  const steps: Record<string, number> = {};
  for (let cell = 0; cell < cells; cell += 1) {
    for (const { result } of rowsOfCell(cell, failing)) {
      statuses[result.status] = (statuses[result.status] ?? 0) + 1;
      steps[result.step] = (steps[result.step] ?? 0) + 1;
      for (const [n, value] of result.vars.entries()) values[n]?.set(value, (values[n]?.get(value) ?? 0) + 1);
      const { errorCode: code, errorMessage: message = '' } = result;
      if (code === undefined) continue;
      const group = groups.get(code) ?? { code, message, results: 0, examples: [], steps: {} };
      groups.set(code, group);
      group.results += 1;
      group.steps[result.step] = (group.steps[result.step] ?? 0) + 1;
      if (group.examples.length < 6) group.examples.push(result.at);
    }
  }
  const results = cells * perCell;
  const points = 90;
  const wave = (n: number): number => Math.round(40 + 25 * Math.sin(n / 7) + (n % 5));
  return {
    version: 1,
    name,
    description: 'Animals in several media, upscaled, varied, described and judged.',
    sandbox: true,
    madeBy: 'promptpress 0.1.0',
    at: Date.UTC(2026, 10, 23, 10, 0, 0),
    live: false,
    results,
    indexed: results,
    steps: ['grid', 'caption', 'judge', 'film', 'late'].map((step) => ({
      name: step,
      kind: step === 'grid' ? 'imagine' : 'generate',
      branches: step === 'grid' ? ['', 'U1', 'U2', 'U2/Vary (Strong)'] : [''],
      results: steps[step] ?? 0,
    })),
    statuses,
    variables: ['animal', 'medium', 'place'].map((variable, n) => ({
      name: variable,
      distinct: values[n]?.size ?? 0,
      values: [...(values[n] ?? [])],
    })),
    totals: {
      submissions: results,
      cost: results * 0.012,
      budget: { cost: results * 0.015 },
      tokens: cells * 1815,
      bytes: results * 310_000,
    },
    failures: [...groups.values()]
      .map((group) => ({
        ...group,
        advice: 'Change the prompt, or send it again: what has failed is not paid.',
        commands: [`promptpress run ${name}.yaml --retry-failed --code ${group.code}`],
      }))
      .sort((a, b) => b.results - a.results),
    charts: {
      secondsPerPoint: 20,
      from: Date.UTC(2026, 10, 23, 9, 0, 0),
      finished: Array.from({ length: points }, (_, n) => wave(n)),
      failed: Array.from({ length: points }, (_, n) => (n % 6 === 0 ? 3 : 0)),
      inFlight: Array.from({ length: points }, (_, n) => Math.min(12, n)),
      cost: Array.from({ length: points }, (_, n) => (results * 0.012 * (n + 1)) / points),
      durations: [
        { step: 'grid', speed: 'fast', jobs: 400, p10: 24, median: 41, p90: 78, longest: 121 },
        { step: 'grid', speed: 'relax', jobs: 90, p10: 64, median: 140, p90: 260, longest: 610 },
        { step: 'caption', speed: '', jobs: 200, p10: 0.9, median: 2.1, p90: 4.4, longest: 11 },
        { step: 'judge', speed: '', jobs: 200, p10: 2.1, median: 5.6, p90: 9.9, longest: 31 },
      ],
      tokens: [
        { model: 'gemini-3-pro', prompt: 310_000, candidates: 64_000, thoughts: 18_000, total: 392_000 },
        { model: 'gemini-3-flash', prompt: 90_000, candidates: 21_000, thoughts: 0, total: 111_000 },
      ],
      attempts: [
        { step: 'grid', jobs: 490, submissions: 520, failed: 12 },
        { step: 'caption', jobs: 200, submissions: 203, failed: 0 },
      ],
    },
    files: { resultsPerFile: 2000, detailsPerFile: 500, runDirectory: '../' },
  };
}

/** Results in columns, as a report has them. */
export function packed(rows: readonly Row[]): PackedResults {
  const results = rows.map(({ result }) => result);
  const listed = <T extends string>(values: readonly T[]): { list: T[]; column: number[] } => {
    const numbers = new Map<T, number>();
    const column = values.map((value) => {
      if (!numbers.has(value)) numbers.set(value, numbers.size);
      return numbers.get(value) as number;
    });
    return { list: [...numbers.keys()], column };
  };
  const stepNames = ['grid', 'caption', 'judge', 'film', 'late'];
  const [branches, statuses] = [
    listed(results.map(({ branch }) => branch)),
    listed(results.map(({ status }) => status)),
  ];
  const [kinds, prompts] = [
    listed(results.map(({ kind }) => kind)),
    listed(results.map(({ prompt }) => prompt ?? '')),
  ];
  const errors = listed(
    results.map(({ errorCode, errorMessage }) =>
      errorCode ? JSON.stringify([errorCode, errorMessage]) : '',
    ),
  );
  return {
    from: results[0]?.at ?? 0,
    count: results.length,
    cell: results.map(({ cell }) => cell),
    step: results.map(({ step }) => stepNames.indexOf(step)),
    branches: branches.list,
    branch: branches.column,
    statuses: statuses.list,
    status: statuses.column,
    kinds: kinds.list,
    kind: kinds.column,
    output: results.map(({ output }) => output ?? 0),
    frame: results.map(({ frame }) => frame ?? 0),
    picked: results.map(({ picked }) => picked ?? ''),
    madeFrom: results.map(({ madeFrom }) => madeFrom ?? ''),
    job: results.map(({ job }) => job ?? ''),
    media: results.map(({ media }) => media ?? ''),
    file: results.map(({ file }) => file ?? ''),
    thumbnail: results.map(({ thumbnail }) => thumbnail ?? ''),
    width: results.map(({ width }) => width ?? 0),
    height: results.map(({ height }) => height ?? 0),
    prompts: prompts.list,
    prompt: prompts.column,
    text: results.map(({ text }) => text ?? ''),
    errors: errors.list.map((each) => (each === '' ? ['', ''] : (JSON.parse(each) as [string, string]))),
    error: errors.column.map((each) => (errors.list[each] === '' ? -1 : each)),
    vars: (results[0]?.vars ?? []).map((_, n) => {
      const { list, column } = listed(results.map(({ vars }) => vars[n] ?? ''));
      return { values: list, value: column };
    }),
    cost: results.map(({ cost }) => cost ?? -1),
    finishedAt: results.map(({ finishedAt }) => finishedAt ?? 0),
    seconds: results.map(({ seconds }) => seconds ?? 0),
  };
}

/** Eight grids of four, eight single pictures and a film. */
async function drawPictures(folder: string, report: string): Promise<void> {
  for (const place of [join(folder, 'images'), join(folder, 'video'), join(report, 'thumbnails')])
    mkdirSync(place, { recursive: true });
  for (let n = 0; n < 8; n += 1) {
    for (const [name, inner, width] of [
      [
        `grid-${n}`,
        [0, 1, 2, 3]
          .map((part) => scene(n * 4 + part, 512, 512, (part % 2) * 512, (part >> 1) * 512))
          .join(''),
        1024,
      ],
      [`one-${n}`, scene(n * 4 + 1, n % 3 === 2 ? 768 : 1024, 1024, 0, 0), n % 3 === 2 ? 768 : 1024],
    ] as const) {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="1024">${inner}</svg>`;
      const drawn = sharp(Buffer.from(svg));
      writeFileSync(join(folder, 'images', `${name}.webp`), await drawn.clone().webp().toBuffer());
      writeFileSync(
        join(report, 'thumbnails', `${name}.webp`),
        await drawn.resize(256, 256, { fit: 'inside' }).webp().toBuffer(),
      );
    }
  }
  writeFileSync(join(folder, 'video', 'one.webm'), '');
}

/** Hills under a sun, of colours and shapes that a number draws. */
function scene(seed: number, width: number, height: number, x: number, y: number): string {
  const hue = (seed * 47) % 360;
  const hill = (base: number, rise: number, light: number): string =>
    `<path d="M0 ${height * base} Q ${width * 0.25} ${height * (base - rise)} ${width * 0.5} ${height * base} T ${width} ${height * (base - rise / 2)} V ${height} H 0 Z" fill="hsl(${hue} 32% ${light}%)"/>`;
  return `<svg x="${x}" y="${y}" width="${width}" height="${height}"><rect width="100%" height="100%" fill="hsl(${(hue + 30) % 360} 45% 82%)"/><circle cx="${width * (0.2 + (seed % 5) * 0.15)}" cy="${height * 0.3}" r="${width * 0.09}" fill="hsl(${(hue + 60) % 360} 80% 70%)"/>${hill(0.62, 0.22, 60)}${hill(0.74, 0.14, 44)}${hill(0.88, 0.1, 28)}</svg>`;
}
