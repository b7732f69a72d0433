import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { WorkersStatus } from '../../src/report/facts/json-outputs.generated.ts';
import { RunMetrics } from '../../src/report/metrics/run-metrics.ts';
import { noCounts } from '../../src/results/run-ledger.ts';
import { proxiesOf } from '../../src/service/http/connect/proxies.ts';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { readDocuments } from '../rig/documents.ts';
import { parseExposition, valueOf } from '../rig/exposition.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { useQuickSandbox } from '../rig/quick-sandbox.ts';
import { DocumentBlocks, shell } from './document-blocks.ts';
import { night, npmOfPackedFile } from './night.ts';
import { oneStep, write } from './pipelines.ts';

useQuickSandbox();

const page = 'pipelines/unattended.md';
const blocks = new DocumentBlocks(readDocuments().filter(({ path }) => path === page));
const text = readDocuments().find(({ path }) => path === page)?.text ?? '';

const manifestIn = async (folder: string) =>
  byStatus(await readManifest(join(folder, 'runs/tonight/manifest.csv')));

describe('the recipes for runs that nobody watches', () => {
  it('cron: runs the set, prints nothing, and leaves metrics', async () => {
    const [, command = ''] = /^(?:[\d*,/-]+ ){5} *(.+)\n$/.exec(blocks.take(page, 'cron', 'tonight')) ?? [];
    await night(async (folder, env) => {
      const ended = await shell(command.replace('/srv/sets', folder), folder, env);
      expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(await manifestIn(folder)).toEqual({ done: 3 });
      const metrics = parseExposition(await readFile(join(folder, 'metrics.prom'), 'utf8'));
      expect(valueOf(metrics, 'promptpress_exit_code', { pipeline: 'tonight' })).toBe(0);
    });
  }, 60_000);

  const service = blocks.take(page, 'ini', 'ExecStart=');
  const timer = blocks.take(page, 'ini', 'OnCalendar=');
  it('systemd: the command of the service runs the set, each night', async () => {
    expect(timer).toMatch(/^OnCalendar=\*-\*-\* /m);
    const [, command = ''] = /^ExecStart=\/usr\/local\/bin\/(.+)$/m.exec(service) ?? [];
    await night(async (folder, env) => {
      const { code, stderr } = await shell(command.replaceAll('%i', 'tonight'), folder, env);
      expect(code, stderr).toBe(0);
      expect(await manifestIn(folder)).toEqual({ done: 3 });
      expect(existsSync(join(folder, 'metrics-tonight.prom'))).toBe(true);
    });
  }, 60_000);

  interface Step {
    readonly run?: string;
    readonly uses?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly with?: Readonly<Record<string, string>>;
  }
  const workflow = blocks.take(page, 'yml', 'actions/cache/restore');
  it('GitHub Actions: every command of the workflow works, in its order, twice', async () => {
    const { jobs } = parse(workflow) as { jobs: Readonly<Record<string, { steps: readonly Step[] }>> };
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    await night(async (folder, env) => {
      for (let time = 0; time < 2; time += 1) {
        for (const { run, env: own = {} } of steps) {
          if (run === undefined) continue;
          // The key is there only where the workflow gives it.
          const given = Object.fromEntries(
            Object.keys(own).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
          );
          const { code, stderr } = await shell(run, folder, given, npmOfPackedFile);
          expect(code, `${run}\n${stderr}`).toBe(0);
        }
        expect(await manifestIn(folder)).toEqual({ done: 3 });
      }
      // What is cached and what is uploaded is there.
      const paths = steps.flatMap((step) => step.with?.['path']?.trim().split(/\s+/) ?? []);
      expect(paths).toHaveLength(5);
      expect(paths.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
      const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as object;
      expect(summary).toMatchObject({ pipeline: 'tonight', exitCode: 0, submits: 0 });
    });
  }, 120_000);

  it('GitHub Actions: a bound that is reached is no failure, and a failure is one', async () => {
    const [line = ''] = /promptpress run tonight.*$/m.exec(workflow) ?? [];
    await night(async (folder, env) => {
      const bounded = line.replace('--max-submits 200', '--max-submits 1');
      expect(bounded).not.toBe(line);
      expect((await shell(bounded, folder, env)).code).toBe(0);
      expect((await shell(line, folder, { ...env, PROMPTPRESS_API_KEY: 'wrong-key' })).code).not.toBe(0);
    });
  }, 60_000);

  it('behind a proxy: what the variables say is reached through it, and what directly', () => {
    const lines = blocks.take(page, 'sh', 'HTTPS_PROXY').matchAll(/^export (\w+)=(\S+)/gm);
    const proxyFor = proxiesOf(Object.fromEntries([...lines].map(([, name, value]) => [name, value])));
    expect(proxyFor(new URL('https://gateway.example'))).toMatchObject({ name: 'proxy.example.com:3128' });
    for (const direct of ['https://localhost', 'https://files.corp.example.com', 'https://10.1.2.3'])
      expect(proxyFor(new URL(direct)), direct).toBeUndefined();
  });

  it('several machines: the shards are merged, and nothing is left to do', async () => {
    const shards = blocks.take(page, 'sh', '--shard 1/2');
    await night(async (folder, env) => {
      const { code, stdout, stderr } = await shell(shards, folder, env);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('3 jobs of 2 directories');
      expect(await manifestIn(folder)).toEqual({ done: 3 });
    });
  }, 60_000);

  it('the body of a notification has the fields that are shown', async () => {
    const shown = JSON.parse(blocks.take(page, 'json', 'exitCode')) as { end: object };
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'set'));
    await write(folder.path, { 'set/tonight.yaml': oneStep(1, 'budget: { submits: 0 }\n') });
    const { out } = await promptpress(['run', 'set/tonight.yaml', '--sandbox', '--json', '--pace', '0'], {
      cwd: folder.path,
    });
    const summary = JSON.parse(out) as { end: object };
    expect(Object.keys(summary)).toEqual(expect.arrayContaining(Object.keys(shown)));
    expect(Object.keys(summary.end)).toEqual(Object.keys(shown.end));
    expect(summary).toMatchObject({ exitCode: 4, end: { kind: 'budget' } });
  });

  it('the table of metrics names every metric, and the alerts use them', () => {
    const metrics = new RunMetrics({ pipeline: 'a', version: '1', startedAt: 0 });
    metrics.begin({ steps: [{ name: 'grid', isText: false, counts: noCounts }] });
    metrics.take({ type: 'request:end', route: 'poll', key: 'a', ms: 1, outcome: 'saved' }, 0);
    metrics.take(
      { type: 'job:status', key: 'a', step: 'grid', branch: '', cell: 1, from: undefined, to: 'done' },
      0,
    );
    const memory = {
      heapBytes: 0,
      externalBytes: 0,
      arrayBufferBytes: 0,
      answerBytes: 0,
      maxAnswerBytes: 0,
    };
    metrics.take(
      { type: 'run:memory', requests: 0, jobs: 0, cells: 0, rssBytes: 1, answersWaiting: 0, ...memory },
      0,
    );
    metrics.end({ at: 0, exitCode: 0, kind: 'complete' });
    const workersStatus: WorkersStatus = {
      state: 'open',
      led: true,
      workers: [],
      slices: { waiting: 1, held: 0, done: 0, fed: true },
      takeovers: 0,
      rates: [{ route: 'text', perMinute: 60 }],
      tasks: { granted: 1, used: 0 },
      spending: [{ kind: 'cost', most: 1, used: 0 }],
    };
    const totals = { doubts: 0, attempts: 0, cost: 0, possibleCost: 0 };
    const names = [...parseExposition(metrics.text(totals, workersStatus)).keys()];
    const table = text.split('\n').filter((line) => line.startsWith('| `promptpress_'));
    const listed = table.flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(new Set(listed)).toEqual(new Set(names));
    expect(listed).toHaveLength(names.length);
    const alerts = blocks.take(page, 'promql', 'time()');
    for (const [name] of alerts.matchAll(/promptpress_\w+/g)) expect(names).toContain(name);
  });
});

it('every recipe is taken by a test', () => {
  expect(blocks.left()).toEqual([]);
});
