import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { exposition } from '../../src/report/metrics/exposition.ts';
import { workerMetrics } from '../../src/report/metrics/run-metrics.ts';
import { DocumentBlocks, shell } from '../e2e/document-blocks.ts';
import { night } from '../e2e/night.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { readDocuments } from '../rig/documents.ts';

const page = 'pipelines/unattended.md';
const machines = 'pipelines/machines.md';
const blocks = new DocumentBlocks(readDocuments().filter(({ path }) => path === page || path === machines));

test('promtool finds nothing in the metrics of a run', async () => {
  await night(async (folder, env) => {
    const checked =
      'promptpress run tonight.yaml --metrics-file m.prom && promtool check metrics < m.prom >&2';
    const { code, stderr } = await shell(checked, folder, env);
    expect([code, stderr.includes('m.prom') || stderr.includes('promptpress_')]).toEqual([0, false]);
  });
});

test('promtool finds nothing in the metrics of the workers of a run on an engine', async () => {
  await using folder = await temporaryFolder();
  const text = exposition(
    workerMetrics({
      state: 'open',
      led: true,
      workers: [],
      slices: { waiting: 1, held: 0, done: 2, fed: true },
      takeovers: 1,
      rates: [{ route: 'submit', perMinute: 30 }],
      tasks: { granted: 2, used: 1 },
      spending: [{ kind: 'cost', most: 2, used: 1 }],
    }),
    { pipeline: 'tonight' },
  );
  await writeFile(join(folder.path, 'm.prom'), text);
  const { code, stderr } = await shell('promtool check metrics < m.prom >&2', folder.path);
  expect([code, stderr.includes('promptpress_')]).toEqual([0, false]);
});

test('systemd-analyze finds nothing in the units of the recipes', async () => {
  await using folder = await temporaryFolder();
  const bin = join(folder.path, 'promptpress');
  await writeFile(bin, '#!/bin/sh\n', { mode: 0o755 });
  const service = blocks.take(page, 'ini', 'ExecStart=').replace('/usr/local/bin/promptpress', bin);
  await writeFile(join(folder.path, 'set@.service'), service);
  await writeFile(join(folder.path, 'set@.timer'), blocks.take(page, 'ini', 'OnCalendar='));
  const worker = blocks.take(machines, 'ini', 'ExecStart=').replace('/usr/local/bin/promptpress', bin);
  await writeFile(join(folder.path, 'set-worker@.service'), worker);
  const units = ['set@tonight.service', 'set@tonight.timer', 'set-worker@1.service'].map((name) =>
    join(folder.path, name),
  );
  const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', ...units]);
  expect(stderr.split('\n').filter((line) => /set(?:-worker)?@/.test(line))).toEqual([]);
});
