import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './cli.ts';
import { measuredProcess, startQuickService } from './measured.ts';
import { taskDuration } from './quick-options.ts';

test('a process of its own is measured, also where it calls process.exit', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'a.mjs');
  await writeFile(
    file,
    'const all = Buffer.alloc(150e6, 1); console.log(process.argv[2], process.env.WORD, all.length); process.exit(3);',
  );
  const took = await measuredProcess(file, ['first'], { cwd: folder.path, env: { WORD: 'w' }, codes: [3] });
  expect(took.stdout).toBe('first w 150000000\n');
  expect(took.peakMB).toBeGreaterThan(150);
  expect(took.peakMB).toBeLessThan(1000);
  expect(took.cpuMs).toBeGreaterThan(0);
  expect(took.samples).toStrictEqual([]);
  await expect(measuredProcess(file, [], { cwd: folder.path })).rejects.toThrow('ended with 3');
});

test.runIf(process.platform === 'linux')(
  'the peak of a process is its own, whatever its parent has',
  async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'b.mjs');
    await writeFile(file, '');
    const parents = Buffer.alloc(400e6, 1);
    expect((await measuredProcess(file, [], { cwd: folder.path })).peakMB).toBeLessThan(200);
    expect(parents.length).toBe(400e6);
  },
);

test('the quick service makes tasks, files and texts, and counts them', async () => {
  const service = await startQuickService({ imageBytes: 2000 });
  try {
    const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
      const response = await fetch(service.url + path, { method: 'POST', body: JSON.stringify(body) });
      return (await response.json()) as Record<string, unknown>;
    };
    const { result } = await post('/img/submit/imagine', { prompt: 'a fox' });
    const grid = (await (await fetch(`${service.url}/img/task/${String(result)}/fetch`)).json()) as {
      readonly status: string;
      readonly imageUrl: string;
      readonly buttons: readonly { readonly label: string; readonly customId: string }[];
    };
    expect(grid).toMatchObject({ status: 'SUCCESS', progress: '100%', prompt: 'a fox' });
    const customId = grid.buttons.find(({ label }) => label === 'U1')?.customId;
    expect(await post('/img-fast/img/submit/action', { taskId: result, customId })).toMatchObject({
      code: 1,
    });
    expect(await post('/img/submit/action', { taskId: result, customId: 'none' })).toMatchObject({ code: 4 });
    expect((await (await fetch(grid.imageUrl)).arrayBuffer()).byteLength).toBe(2000);
    expect(await post('/img/task/list-by-condition', { ids: [result] })).toMatchObject([{ id: result }]);
    expect(await post('/v1beta/models/m:generateContent', {})).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
    });
    expect(await post('/v1/chat/completions', {})).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    expect(await service.counts()).toMatchObject({
      submits: 2,
      polls: 1,
      lists: 1,
      files: 1,
      texts: 2,
      peakTexts: 1,
      ended: 1,
    });
  } finally {
    await service.close();
  }
});

test('a duration is drawn from the name of its task, about the median', () => {
  const options = { taskMs: 2000, sigma: 0.4 };
  const drawn = Array.from({ length: 1001 }, (_, n) => taskDuration(`fox ${n}/U1`, options)).sort(
    (a, b) => a - b,
  );
  expect(drawn[500]).toBeGreaterThan(1900);
  expect(drawn[500]).toBeLessThan(2100);
  const logs = drawn.map((ms) => Math.log(ms / 2000));
  expect(Math.sqrt(logs.reduce((sum, log) => sum + log * log, 0) / logs.length)).toBeCloseTo(0.4, 1);
  expect(taskDuration('fox 1/U1', options)).toBe(taskDuration('fox 1/U1', options));
  expect(taskDuration('fox 1', { taskMs: 5 })).toBe(5);
});
