/**
 * Makes a run directory in which everything is done, quickly, and the same each time:
 * `npx tsx test/bench/seed-state.ts FOLDER --jobs 1000000 [--kind both|image|text] [--prompts 100] [--images] [--over]`.
 *
 * FOLDER gets a pipeline, and beside it the run of that pipeline. `seededRun` says how commands are to be called there.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFiles } from '../../src/app/adapters/files.ts';
import { parsePipeline } from '../../src/pipeline/parse.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import { type Plan, preparePlan } from '../../src/plan/plan.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { writeRunFacts } from '../../src/report/facts/run.ts';
import { enterService } from '../../src/report/facts/services.ts';
import { bindDirectory } from '../../src/state/binding.ts';
import { openState } from '../../src/state/state.ts';
import type { StateStore } from '../../src/state/store.ts';
import { makePng } from '../rig/png.ts';

export interface SeedOptions {
  readonly jobs: number;
  /** Default: half of the jobs are images, half are texts. */
  readonly kind?: 'both' | 'image' | 'text';
  /** Values of the slowest axis; 100 where nothing is said. */
  readonly prompts?: number;
  /** Each image lies in its place, small and different from all others. Default: the records alone. */
  readonly images?: boolean;
  /** One more text for each group of captions, gathered over all prompts; they come on top of `jobs`. */
  readonly over?: boolean;
}

const serviceId = 'bench';
const name = 'seeded';
/** When everything happened. */
const at = Date.UTC(2026, 0, 1);

const imageStep = '  grid: { imagine: "{{ prompt }}, picture {{ n }} --ar 3:2 --v 6.1" }';
const textStep =
  '  caption: { generate: { model: text-pro, prompt: "A caption for {{ prompt }}, number {{ n }}." } }';

const sumStep =
  '  sum: { gather: { step: caption, over: [prompt] }, generate: { model: text-pro, prompt: "Sum up {{ gathered | size }} of {{ n }}." } }';

/** The text of the pipeline. `edited`: one of its prompts is another one. */
export function seededPipeline(options: SeedOptions, edited = false): string {
  const { kind = 'both', prompts = 100, jobs, over = false } = options;
  const steps = [...(kind === 'text' ? [] : [imageStep]), ...(kind === 'image' ? [] : [textStep])];
  const each = Math.ceil(jobs / prompts / steps.length);
  if (over) steps.push(sumStep);
  const values = Array.from({ length: prompts }, (_, index) =>
    edited && index === Math.floor(prompts / 2) ? 'an edited prompt' : `a fox in scene ${index + 1}`,
  );
  return [
    `name: ${name}`,
    `service: { id: ${serviceId} }`,
    'matrix:',
    '  prompt:',
    ...values.map((value) => `    - ${value}`),
    `  n: { from: 1, to: ${each} }`,
    'steps:',
    ...steps,
    '',
  ].join('\n');
}

/** The command line for the seeded folder: nothing listens at the address, and nothing is to be sent. */
export const seededRun = (folder: string) => ({
  pipeline: join(folder, 'pipeline.yaml'),
  directory: join(folder, 'runs', name),
  flags: ['--base-url', 'http://127.0.0.1:9', '--no-progress'],
  env: { PROMPTPRESS_API_KEY: 'sk-bench-0123456789abcdef' },
});

/** @returns how many jobs there are */
export async function seedState(folder: string, options: SeedOptions): Promise<number> {
  const { pipeline: file, directory } = seededRun(folder);
  const text = seededPipeline(options);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, text);
  const files = machineFiles(folder);
  const { pipeline } = await parsePipeline({ file, folder, text }, files);
  if (pipeline === undefined) throw new Error('The seeded pipeline is not valid.');
  const prepared = await preparePlan(pipeline, { files, serviceId });
  if (!prepared.ok) throw new Error('The seeded pipeline has no plan.');
  const state = openState(directory);
  try {
    const service = { id: serviceId, origin: 'http://127.0.0.1:9' };
    await bindDirectory(state, directory, { file, text });
    await enterService(state, service);
    const jobs = await commitAll(prepared.value, state, options.images === true ? directory : undefined);
    await writeRunFacts(state, {
      filesRoot: folder,
      tables: [],
      serviceId,
      origin: service.origin,
      selection: {},
      startedAt: at,
      atStart: { settled: 0, attempts: 0 },
    });
    return jobs;
  } finally {
    state.close();
  }
}

/** @param directory where images are written; absent: nowhere */
async function commitAll(plan: Plan, state: StateStore, directory: string | undefined): Promise<number> {
  let jobs = 0;
  const records = new Map<string, JobRecord>();
  const commit = (): void => {
    state.commit({ records: [...records.values()], attempts: [], invocation: 1 });
    jobs += records.size;
    records.clear();
  };
  for await (const cell of plan.matrix.cells()) {
    const { groups } = plan.matrix;
    const isLast = [...groups.values()].some((group) => group.isLast(cell.number));
    // What is gathered has to be there before.
    for (const isOwn of isLast ? [true, false] : [true]) {
      const lookup = (key: string): JobRecord | undefined =>
        records.get(key) ?? (isLast ? state.get(key) : undefined);
      for (const slot of plan.resolve(cell, lookup, isOwn)) {
        if (slot.record !== undefined) continue;
        const record = doneRecord(slot);
        records.set(record.key, directory === undefined ? record : withImage(record, slot, directory));
      }
    }
    if (records.size >= 4096) commit();
  }
  commit();
  return jobs;
}

/** The same with a file in the place of its image, if it has one. */
function withImage(record: JobRecord, { cell, kind }: Slot, directory: string): JobRecord {
  if (kind !== 'imagine') return record;
  const [width, height] = [96, 64];
  const png = makePng(cell, width, height);
  const sha256 = createHash('sha256').update(png).digest('hex');
  return {
    ...record,
    artifacts: record.artifacts.map((artifact) => {
      const file = join(directory, artifact.file);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, png);
      return { ...artifact, bytes: png.length, sha256, width, height };
    }),
  };
}

function doneRecord({ job, cell, step, id, keep }: Slot): JobRecord {
  if (job === undefined) throw new Error('A slot of the seeded pipeline has no job.');
  const shared = {
    ...job,
    status: 'done' as const,
    origin: { cell, step, branch: '', slot: id },
    keep,
    attempts: 1,
    tries: 0,
    resubmits: 0,
    submittedAt: at,
    finishedAt: at + 60_000,
    invocation: 1,
  };
  if (job.kind === 'imagine') {
    const frames = [1, 2, 3, 4];
    return {
      ...shared,
      taskId: String(17_670_000_000_000_000n + BigInt(cell)),
      speed: 'relax',
      result: {
        imageUrl: `https://images.test/${job.key}.png`,
        buttons: frames.map((frame) => ({
          customId: `IMG::JOB::upsample::${frame}::${job.key}`,
          label: `U${frame}`,
          emoji: '',
          type: 2,
          style: 2,
        })),
      },
      artifacts: [
        {
          output: 1,
          file: `images/${job.key.slice(0, 2)}/${job.key}-1.png`,
          bytes: 1_500_000,
          sha256: `${job.key}${job.key}`,
          mime: 'image/png',
          width: 2048,
          height: 1344,
        },
      ],
    };
  }
  const text = `The fox of picture ${cell} looks past the viewer, into the snow behind.`;
  return {
    ...shared,
    text: {
      candidates: [{ text, isJson: false, finishReason: 'STOP', parts: [{ text }] }],
      model: 'text-pro-001',
      responseId: job.key.slice(0, 16),
      requestId: job.key.slice(16),
    },
    usage: { prompt: 12, candidates: 16, total: 28 },
    artifacts: [],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    options: {
      jobs: { type: 'string' },
      kind: { type: 'string' },
      prompts: { type: 'string' },
      images: { type: 'boolean' },
      over: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('seed-state needs a folder.');
  const { kind = 'both' } = values;
  if (kind !== 'both' && kind !== 'image' && kind !== 'text') throw new Error(`--kind ${kind} is none.`);
  const jobs = await seedState(folder, {
    jobs: Number(values.jobs ?? 1_000_000),
    kind,
    prompts: Number(values.prompts ?? 100),
    images: values.images === true,
    over: values.over === true,
  });
  console.log(`${folder}: ${jobs} finished jobs`);
}
