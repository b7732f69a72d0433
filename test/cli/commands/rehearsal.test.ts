import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress, type Said } from '../test-io.ts';

useQuickSandbox();

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  // At pace 1 a task with [late] in its prompt takes an hour longer.
  const late = 'name: set\npoll: { min: 5ms, max: 50ms }\nsteps: { grid: { imagine: "a fox [late]" } }\n';
  await writeFile(join(cwd, 'pipeline.yaml'), late);
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });

describe('promptpress run --sandbox', () => {
  it('--pace is the factor on the durations of its tasks', async () => {
    const { code, err } = await pp('run', '--sandbox', '--pace', '0');
    expect(code, err).toBe(0);
  }, 120_000);

  it('--pixels is the side of the pictures', async () => {
    const { code, err } = await pp('run', '--sandbox', '--pace', '0', '--pixels', '100');
    expect(code, err).toBe(0);
    const rows = await readManifest(join(cwd, 'runs/set.sandbox/manifest.csv'));
    expect(rows).toMatchObject([{ width: '100', height: '100' }]);
  });

  it.each([
    ['image:half-jpeg:first 1', '', { done: 1 }, 'complete'],
    ['image:challenge', '', { failed: 1 }, 'a challenge page for browsers'],
    [
      'fetch:link=stale-videos',
      '  film: { from: grid, video: { image: parent, motion: high, batchSize: 1 } }',
      { done: 2 },
      'complete',
    ],
  ])(
    '--fault %s is met as one of a gateway',
    async (name, film, rows, says) => {
      await writeFile(
        join(cwd, 'pipeline.yaml'),
        `name: set\npoll: { min: 5ms, max: 50ms }\nretry: { base: 5ms, cap: 20ms }\nsteps:\n  grid: { imagine: a fox }\n${film}\n`,
      );
      const { err } = await pp('run', '--sandbox', '--pace', '0', '--fault', name);
      const written = await readManifest(join(cwd, 'runs/set.sandbox/manifest.csv'));
      expect(byStatus(written), err).toEqual(rows);
      expect(err).toContain(says);
    },
    120_000,
  );

  it('reads the seed of each grid, also of a finished one, and once more only what has none', async () => {
    const steps = (seed: string): string =>
      `name: set\npoll: { min: 5ms, max: 50ms }\nsteps:\n  grid: { imagine: "a fox --seed 77"${seed}, path: U1 → Vary (Strong) }\n`;
    const seeds = async (text: string): Promise<{ submissions: number; seeds: unknown[]; err: string }> => {
      await writeFile(join(cwd, 'pipeline.yaml'), text);
      const { code, out, err } = await pp('run', '--sandbox', '--pace', '0', '--json');
      expect(code, err).toBe(0);
      const rows = await readManifest(join(cwd, 'runs/set.sandbox/manifest.csv'));
      const { submits } = JSON.parse(out) as { submits: number };
      return { submissions: submits, seeds: rows.map(({ seed }) => seed), err };
    };
    expect(await seeds(steps(''))).toMatchObject({ submissions: 3, seeds: ['', '', ''] });
    const read = { submissions: 0, seeds: ['77', '', expect.stringMatching(/^\d+$/)] };
    expect(await seeds(steps(', seed: true'))).toMatchObject(read);
    expect(await seeds(steps(', seed: true'))).toMatchObject(read);
  }, 120_000);

  it('leaves seeds empty that a gateway does not tell, and says so once', async () => {
    const key = 'a-key-of-tests';
    const sandbox = await startSandbox({ apiKey: key, settings: { quirks: new Set(['no-seeds']) } });
    try {
      await writeFile(
        join(cwd, 'pipeline.yaml'),
        'name: set\nmatrix: { n: [1, 2, 3] }\npoll: { min: 5ms, max: 50ms }\nlimits: { requests: 1 }\nsteps: { grid: { imagine: "a fox {{ n }}", seed: true } }\n',
      );
      const env = { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: key };
      const { code, err } = await promptpress(['run'], { cwd, env });
      expect(code, err).toBe(0);
      expect(err.split('tells no seeds'), err).toHaveLength(2);
      const rows = await readManifest(join(cwd, 'runs/set/manifest.csv'));
      expect(rows.map(({ status, seed }) => `${status} ${seed}`)).toEqual(['done ', 'done ', 'done ']);
      expect(sandbox.requests().filter(({ path }) => path.endsWith('image-seed'))).toHaveLength(1);
      const again = await promptpress(['run'], { cwd, env });
      expect([again.code, again.err.includes('tells no seeds')]).toEqual([0, false]);
    } finally {
      await sandbox.close();
    }
  }, 120_000);

  it('saves the four images of a task without a grid', async () => {
    const key = 'a-key-of-tests';
    const sandbox = await startSandbox({ apiKey: key, settings: { quirks: new Set(['no-grids']) } });
    try {
      await writeFile(
        join(cwd, 'pipeline.yaml'),
        'name: set\nservice: { names: neutral }\npoll: { min: 5ms, max: 50ms }\nsteps: { grid: { imagine: a fox, path: U2 } }\n',
      );
      const env = { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: key };
      const { code, err } = await promptpress(['run'], { cwd, env });
      expect(code, err).toBe(0);
      expect(byStatus(await readManifest(join(cwd, 'runs/set/manifest.csv')))).toEqual({ done: 5 });
    } finally {
      await sandbox.close();
    }
  }, 120_000);

  it('--fault causes its fault, only in this run', async () => {
    await writeFile(
      join(cwd, 'words.yaml'),
      'name: words\nsteps: { words: { chat: { model: chat-mini, prompt: a fox } } }\n',
    );
    const { code, err } = await pp('run', 'words.yaml', '--sandbox', '--pace', '0', '--fault', 'chat:403');
    expect(code, err).toBe(1);
    // The next commands are to succeed: what went wrong on demand does not stand in them.
    expect(err).toContain('promptpress run words.yaml --sandbox --pace 0');
    expect(err).not.toContain('--fault');
    const file = join(cwd, 'runs/words.sandbox/manifest.csv');
    expect((await readManifest(file)).map(({ status }) => status)).toEqual(['failed']);
    const again = await pp('run', 'words.yaml', '--sandbox', '--pace', '0', '--retry-failed');
    expect(again.code, again.err).toBe(0);
    expect((await readManifest(file)).map(({ status }) => status)).toEqual(['done']);
  });

  it.each([
    'auth: none',
    'auth: header',
    'clicks: change',
    'names: midjourney-proxy, auth: header',
    'names: midjourney-proxy, auth: raw, speed: relax',
    'names: midjourney-proxy, auth: none, clicks: change',
  ])('behaves like the gateway that the pipeline is written for: %s', async (service) => {
    const steps =
      'grid: { imagine: a fox, path: U1 }, words: { generate: { model: text-pro, prompt: a fox } }';
    await writeFile(join(cwd, 'words.yaml'), `name: words\nservice: { ${service} }\nsteps: { ${steps} }\n`);
    const { code, err } = await pp('run', 'words.yaml', '--sandbox', '--pace', '0');
    expect(code, err).toBe(0);
    const rows = await readManifest(join(cwd, 'runs/words.sandbox/manifest.csv'));
    expect(rows.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
  });

  it.each([
    [['--pace', '0'], '--pace is a setting of the sandbox'],
    [['--fault', 'imagine:500'], '--fault is a setting of the sandbox'],
    [['--pixels', '256'], '--pixels is a setting of the sandbox'],
    [['--sandbox', '--pixels', '63'], '--pixels takes a whole number from 64 to 4096, in digits, not "63"'],
    [['--sandbox', '--pixels', '4097'], '--pixels takes a whole number from 64 to 4096'],
    [['--sandbox', '--pace', 'quick'], '--pace takes a number of at least 0'],
    [['--sandbox', '--fault', 'nonsense'], 'expected route:fault'],
  ])('%j is refused with exit 2', async (flags, message) => {
    const { code, err } = await pp('run', ...flags);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
