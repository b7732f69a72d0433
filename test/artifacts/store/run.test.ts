import { createHash } from 'node:crypto';
import { readdirSync, realpathSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { createArtifactWriter } from '../../../src/artifacts/artifact-writer.ts';
import { createInputReader } from '../../../src/artifacts/input/reader.ts';
import type { ArtifactStore } from '../../../src/artifacts/store/store.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { RunReport } from '../../../src/run/ports.ts';
import { runPlan } from '../../../src/run/run.ts';
import { planForRun } from '../../../src/run/run-plan.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { createImageService } from '../../../src/service/client.ts';
import { namePresets } from '../../../src/service/names.ts';
import { createTextService } from '../../../src/service/text-client.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { memoryArtifacts } from '../../rig/memory-artifacts.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { planOf } from '../../rig/plan.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { freshFolder } from '../places.ts';

const pipeline = `name: t
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "a {{ animal }}", path: U1 }
  words:
    from: grid/U1
    generate: { model: text-pro, prompt: "What is it?", images: [parent] }
`;

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

/** Runs the plan in a sandbox, or goes on with it, over a store of artifacts. */
async function run(plan: Plan, state: StateStore, store: ArtifactStore): Promise<RunReport> {
  sandbox ??= await startSandbox({ apiKey: 'k', settings: { pace: 0, pixels: 64 } });
  const baseUrl = sandbox.url;
  const folder = realpathSync(freshFolder());
  const service = { baseUrl, apiKey: 'k', names: namePresets.neutral, requestMs: 60_000 };
  const images = createImageService(service);
  const text = createTextService({ ...service, textMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 });
  const links = { baseUrl, store, clock: wallClock };
  const artifacts = createArtifactWriter({ ...links, replies: state });
  const inputs = createInputReader({ ...links, folder, filesRoot: folder });
  const never = new AbortController().signal;
  try {
    const report = await runPlan(
      planForRun(plan, {}),
      {},
      { ...virtualSettings(), poll: { minMs: 5, maxMs: 20 } },
      { store: state, service: images, text, inputs, artifacts, clock: wallClock, random: Math.random },
      { drain: never, leave: never },
      () => {},
    );
    expect(readdirSync(folder)).toEqual([]);
    return report;
  } finally {
    for (const open of [artifacts, inputs, text, images]) await open.close();
  }
}

it('a run keeps its artifacts in a store in memory, and sends a model an image from there', async () => {
  const { plan } = await planOf(pipeline);
  const state = memoryStore();
  const files = new Map<string, Buffer>();
  const store = memoryArtifacts(files);
  const report = await run(plan, state, store);
  expect(report.end.kind).toBe('complete');
  const jobs = [...state.withStatus('done')];
  // A grid, an upscale and a text for each animal.
  expect(jobs).toHaveLength(6);
  const artifacts = jobs.flatMap((job) => job.artifacts ?? []);
  expect(artifacts.length).toBeGreaterThanOrEqual(4);
  for (const { file, sha256, bytes } of artifacts) {
    const found = await store.get(file, bytes);
    expect(found.ok && createHash('sha256').update(found.bytes).digest('hex')).toBe(sha256);
  }
  expect([...files.keys()].filter((name) => !name.startsWith('images/'))).toEqual([]);
  const replies = jobs.flatMap(({ text }) => text?.reply ?? []);
  expect([replies.length, replies.filter(({ offset }) => offset === 0).length]).toEqual([2, 1]);
  expect(store.unfinished).toBe(0);
});

it('a continued run sends no image that was changed in the store', async () => {
  const { plan } = await planOf(pipeline);
  const state = memoryStore();
  const files = new Map<string, Buffer>();
  const inner = memoryArtifacts(files);
  // Whatever is saved as an image is another one from then on.
  const changed: ArtifactStore = {
    ...inner,
    get: async (name, maxBytes) => {
      const found = await inner.get(name, maxBytes);
      return found.ok ? { ok: true, bytes: Buffer.concat([found.bytes, Buffer.from('!')]) } : found;
    },
  };
  await run(plan, state, changed);
  const failed = [...state.withStatus('failed')];
  expect(failed.map(({ error }) => error?.code)).toEqual(['input.changed', 'input.changed']);
});
