import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { program } from '../../../src/cli/program.ts';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import { neutralNames } from '../../../src/sandbox/names.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { parseExposition, valueOf } from '../../rig/exposition.ts';
import { readManifest } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress, testIo } from '../test-io.ts';

useQuickSandbox();

const apiKey = 'key-of-the-test-0123456789';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const file = (more = ''): string =>
  `name: foxes
matrix: { seed: { from: 1, to: 4 } }
retry: { resubmits: 0, base: 5ms, cap: 10ms }
poll: { min: 5ms, max: 20ms }
${more}
prices: { imagine: 0.5, text-pro: { input: 1, output: 1 } }
steps:
  grid: { imagine: "a fox --seed {{ seed }}" }
  caption: { from: grid, generate: { model: text-pro, prompt: Caption this., images: [parent] } }
`;

async function service(faults: readonly string[] = [], pace = 0) {
  const read = faults.map((fault) => {
    const parsed = parseFault(fault);
    if (!parsed.ok) throw new Error(parsed.error);
    return parsed.value;
  });
  const sandbox = await startSandbox({ apiKey, names: neutralNames, settings: { pace, faults: read } });
  onTestFinished(() => sandbox.close());
  return { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey };
}

/** Takes notifications, and keeps them. */
async function receiver(status = 200) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(`${JSON.stringify(request.headers)}\n${body}`);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook/T0123456789`,
    bodies,
    summary: (at = 0) => JSON.parse(bodies[at]?.split('\n')[1] ?? '') as Record<string, unknown>,
  };
}

const metricsOf = async (name = 'm.prom') => parseExposition(await readFile(join(cwd, name), 'utf8'));

describe('run --metrics-file', () => {
  it('writes the metrics of a run, and of a later one with nothing to do', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const run = () => promptpress(['run', 'foxes.yaml', '--metrics-file', 'm.prom'], { cwd, env });
    expect((await run()).code).toBe(0);
    const first = await metricsOf();
    const done = (metrics: typeof first, step: string) =>
      valueOf(metrics, 'promptpress_jobs', { pipeline: 'foxes', step, status: 'done' });
    expect([done(first, 'grid'), done(first, 'caption')]).toEqual([4, 4]);
    expect(valueOf(first, 'promptpress_requests_total', { route: 'submit', class: '2xx' })).toBe(4);
    expect(valueOf(first, 'promptpress_requests_total', { route: 'text', class: '2xx' })).toBe(4);
    expect(valueOf(first, 'promptpress_requests_total', { route: 'download', class: '2xx' })).toBe(4);
    expect(valueOf(first, 'promptpress_tokens_total', { kind: 'prompt' })).toBeGreaterThan(0);
    expect(valueOf(first, 'promptpress_cost')).toBeGreaterThanOrEqual(2);
    expect(valueOf(first, 'promptpress_jobs_in_doubt')).toBe(0);
    expect(valueOf(first, 'promptpress_exit_code')).toBe(0);
    expect(valueOf(first, 'promptpress_end_info', { end: 'complete' })).toBe(1);

    expect((await run()).code).toBe(0);
    const second = await metricsOf();
    expect([done(second, 'grid'), done(second, 'caption')]).toEqual([4, 4]);
    expect(second.has('promptpress_requests_total')).toBe(false);
    expect(valueOf(second, 'promptpress_cost')).toBe(valueOf(first, 'promptpress_cost'));
    expect(valueOf(second, 'promptpress_exit_code')).toBe(0);
    expect((await readdir(cwd)).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('shows refusals by their class, and the exit code of a run with failures', async () => {
    const env = await service(['imagine:fail=task-timeout:100%', 'imagine:429:30%']);
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const { code } = await promptpress(['run', 'foxes.yaml', '--metrics-file', 'm.prom'], { cwd, env });
    const metrics = await metricsOf();
    expect([code, valueOf(metrics, 'promptpress_exit_code')]).toEqual([1, 1]);
    const jobs = (step: string, status: string) => valueOf(metrics, 'promptpress_jobs', { step, status });
    expect([jobs('grid', 'failed'), jobs('caption', 'blocked')]).toEqual([4, 4]);
  });

  it('contains the exit code of a refused run', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const run = (...flags: readonly string[]) =>
      promptpress(['run', 'foxes.yaml', '--metrics-file', 'm.prom', ...flags], { cwd, env });
    expect((await run()).code).toBe(0);
    expect((await run('--redo', 'ffffffff')).code).toBe(2);
    expect(valueOf(await metricsOf(), 'promptpress_exit_code')).toBe(2);
  });

  it('warns once of a missing folder, and runs anyway', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const { code, err } = await promptpress(['run', 'foxes.yaml', '--metrics-file', 'gone/m.prom'], {
      cwd,
      env,
    });
    expect([code, err.match(/metrics cannot be written/g)]).toEqual([0, ['metrics cannot be written']]);
  });

  it('refuses to replace a file that is not its own', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const { code, err } = await promptpress(['run', 'foxes.yaml', '--metrics-file', 'foxes.yaml'], {
      cwd,
      env,
    });
    expect([code, err]).toEqual([2, expect.stringContaining('--metrics-file')]);
    expect(await readFile(join(cwd, 'foxes.yaml'), 'utf8')).toBe(file());
  });
});

describe('run --notify', () => {
  it('posts what --json prints when all is done, and again when nothing was left to do', async () => {
    const env = await service();
    const hook = await receiver();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const run = () => promptpress(['run', 'foxes.yaml', '--json', '--notify', hook.url], { cwd, env });
    const said = await run();
    expect([said.code, hook.bodies.length]).toEqual([0, 1]);
    expect(hook.summary()).toEqual(JSON.parse(said.out));
    expect(hook.summary()).toMatchObject({ exitCode: 0, end: { kind: 'complete' }, directory: 'runs/foxes' });
    expect(hook.bodies[0]).not.toContain(apiKey);
    expect((await run()).code).toBe(0);
    expect(hook.summary(1)).toMatchObject({ exitCode: 0, submits: 0 });
  });

  it.each([
    ['failures', ['imagine:fail=task-timeout:100%'], '', [], 1, 'complete'],
    ['the budget', [], 'budget: { submits: 1 }', [], 4, 'budget'],
    ['--max-submits', [], '', ['--max-submits', '1'], 4, 'budget'],
    ['a key that is refused', ['imagine:401:100%'], '', [], 3, 'stopped'],
  ])('reports %s, with the exit code', async (_, faults, more, flags, exitCode, kind) => {
    const env = await service(faults);
    const hook = await receiver();
    await writeFile(join(cwd, 'foxes.yaml'), file(more));
    const { code } = await promptpress(['run', 'foxes.yaml', ...flags], {
      cwd,
      env: { ...env, PROMPTPRESS_NOTIFY: hook.url },
    });
    expect(code).toBe(exitCode);
    expect(hook.summary()).toMatchObject({ exitCode, end: { kind } });
    expect(hook.bodies.join()).not.toContain(apiKey);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('reports an interruption by %s', async (signal) => {
    const env = await service([], 0.2);
    const hook = await receiver();
    await writeFile(join(cwd, 'foxes.yaml'), file('limits: { tasks: 1 }'));
    const test = testIo({ cwd, env: { ...env, PROMPTPRESS_NOTIFY: hook.url } });
    const ended = program(['run', 'foxes.yaml', '--log-level', 'debug'], test.io);
    await vi.waitFor(
      async () => expect(await readFile(join(cwd, 'runs/foxes/run.log'), 'utf8')).toContain('"to":"running"'),
      { timeout: 20_000 },
    );
    test.interrupt(signal);
    const code = await ended;
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(hook.summary()).toMatchObject({ exitCode: code, end: { kind: 'interrupted', forced: false } });
  });

  it('warns without the address when the post fails, and keeps the exit code', async () => {
    const env = await service();
    const hook = await receiver(404);
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const { code, err } = await promptpress(['run', 'foxes.yaml', '--notify', hook.url], { cwd, env });
    expect([code, hook.bodies.length]).toEqual([0, 1]);
    expect(err).toContain('could not be reported to');
    expect(err).not.toContain('T0123456789');
    const log = await readFile(join(cwd, 'runs/foxes/run.log'), 'utf8');
    expect(log).not.toContain('T0123456789');
  });

  it('warns even with --quiet and nothing to do, and prints nothing else then', async () => {
    const env = await service();
    const hook = await receiver(404);
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const run = () => promptpress(['run', 'foxes.yaml', '--quiet', '--notify', hook.url], { cwd, env });
    expect((await run()).err).toContain('could not be reported to');
    const { code, err } = await run();
    expect([code, hook.bodies.length, err.trimEnd().split('\n').length]).toEqual([0, 2, 1]);
    expect(err).toContain('could not be reported to');
  });

  it('refuses an invalid address before anything is sent', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const { code, err } = await promptpress(
      ['run', 'foxes.yaml', '--notify', 'ftp://a.example/T0123456789'],
      {
        cwd,
        env,
      },
    );
    expect([code, err]).toEqual([2, expect.stringContaining('--notify must begin with https://')]);
    expect(err).not.toContain('T0123456789');
    expect(await readdir(cwd)).toEqual(['foxes.yaml']);
  });
});

describe('run --redo-jobs', () => {
  it('makes the listed jobs again, except those marked "keep"', async () => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    const run = (...flags: readonly string[]) =>
      promptpress(['run', 'foxes.yaml', '--json', ...flags], { cwd, env });
    await run();
    const rows = await readManifest(join(cwd, 'runs/foxes/manifest.csv'));
    const [first = '', second = ''] = rows.flatMap(({ step, job }) => (step === 'grid' && job ? [job] : []));
    await writeFile(join(cwd, 'marks.csv'), `job,mark,note\r\n${first},reject,\r\n${second},keep,\r\n`);
    const planned = await promptpress(['plan', 'foxes.yaml', '--json', '--redo-jobs', 'marks.csv'], {
      cwd,
      env,
    });
    // The image, and the caption that was written of it.
    expect(JSON.parse(planned.out)).toMatchObject({ total: { submits: 2 } });
    const again = await run('--redo-jobs', 'marks.csv');
    expect([again.code, (JSON.parse(again.out) as { submits: number }).submits]).toEqual([0, 2]);
    const record = JSON.parse(await readFile(join(cwd, 'runs/foxes/run.json'), 'utf8')) as {
      flags: { redo: string[] };
    };
    expect(record.flags.redo).toEqual([first]);

    await writeFile(join(cwd, 'keys.txt'), `${first}\n${second}\n${'0'.repeat(first.length)}\n`);
    const unknown = await run('--redo-jobs', 'keys.txt');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('keys.txt, line 3')]);
  });

  it.each([
    ['gone.csv', undefined, 'there is no such file'],
    ['words.csv', 'job\nnot a key\n', 'words.csv, line 2'],
    ['kept.csv', `job,mark\n${'a'.repeat(32)},keep\n`, 'but those that are marked "keep"'],
    ['torn.csv', 'job,note\n"abc', 'torn.csv'],
  ])('refuses %s', async (name, text, words) => {
    const env = await service();
    await writeFile(join(cwd, 'foxes.yaml'), file());
    await promptpress(['run', 'foxes.yaml', '--limit', '1'], { cwd, env });
    if (text !== undefined) await writeFile(join(cwd, name), text);
    const { code, err } = await promptpress(['run', 'foxes.yaml', '--redo-jobs', name], { cwd, env });
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });
});
