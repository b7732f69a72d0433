import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';

useQuickSandbox();

let cwd: string;
let service: FakeService;
let asked: string[];

const pipeline = (ask: number): string => `name: foxes
poll: { min: 5ms, max: 10ms }
budget: { ask: ${ask} }
prices: { imagine: 0.5, U1: 0.25 }
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
`;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  service = await startFakeService({ apiKey: 'sk-key' });
  asked = [];
});
afterEach(async () => {
  await service.close();
  await rm(cwd, { recursive: true, force: true });
});

/** Runs with a budget.ask, and with somebody at the terminal who gives this answer. */
async function run(ask: number, answer: string | undefined, ...flags: readonly string[]): Promise<Said> {
  await writeFile(join(cwd, 'foxes.yaml'), pipeline(ask));
  const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: 'sk-key' };
  return await promptpress(['run', 'foxes.yaml', ...flags], {
    cwd,
    env,
    ...(answer === undefined
      ? {}
      : {
          answer: (question: string) => {
            asked.push(question);
            return answer;
          },
        }),
  });
}

const untouched = async (): Promise<boolean> => (await readdir(cwd)).join() === 'foxes.yaml';

describe('a run that is estimated above budget.ask', () => {
  it('asks at a terminal, and runs on a yes', async () => {
    const { code, err } = await run(1.49, 'y');
    expect(code, err).toBe(0);
    expect(asked).toEqual(['foxes.yaml is about to spend 1.50, more than budget.ask (1.49). Go on? [y/N] ']);
    // What is done is not paid again, so nothing is to be asked.
    expect((await run(1.49, 'n')).code).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it.each(['', 'n', 'yeah'])('is not started after the answer %j', async (answer) => {
    const { code, err } = await run(1, answer);
    expect(code).toBe(2);
    expect(err).toContain('nothing was submitted');
    expect(await untouched()).toBe(true);
  });

  it('is refused without a terminal, and the message says how to continue', async () => {
    const { code, err } = await run(1, undefined);
    expect(code).toBe(2);
    expect(err).toContain('--yes');
    expect(await untouched()).toBe(true);
  });

  it('runs with --yes, with or without a terminal', async () => {
    expect((await run(1, undefined, '--yes', '--limit', '1')).code).toBe(0);
    expect((await run(0.1, 'n', '--yes')).code).toBe(0);
    expect(asked).toEqual([]);
  });
});

it('a refusal is the same with --quiet as without', async () => {
  const flags = ['--base-url', `${service.url}/v1`];
  const said = await run(1, undefined, ...flags);
  expect([said.code, said.err]).toEqual([2, expect.stringContaining('The base address ends in /v1')]);
  expect(await run(1, undefined, '--quiet', ...flags)).toEqual(said);
});

it('nothing is asked at the exact limit, for a cheaper part, or in a rehearsal', async () => {
  expect((await run(0.74, 'n', '--sandbox', '--limit', '1')).code).toBe(0);
  expect((await run(0.75, 'n', '--limit', '1')).code).toBe(0);
  expect(asked).toEqual([]);
  expect((await run(0.74, 'n')).code).toBe(2);
  expect(asked).toHaveLength(1);
});
