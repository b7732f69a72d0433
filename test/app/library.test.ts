import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PromptpressError, planPipeline, runPipeline, validatePipeline } from '../../src/index.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { withStateHome } from '../rig/state-home.ts';

const key = 'sk-of-a-program-0815';
const text = (name = 'notes', animals = '[fox, owl]'): string =>
  `name: ${name}\nmatrix: { animal: ${animals} }\nsteps:\n  note:\n    generate: { model: text-pro, prompt: "{{ animal }}" }\n`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: FakeService;
beforeEach(async () => {
  folder = await temporaryFolder();
  service = await startFakeService({ apiKey: key });
});
afterEach(async () => {
  await service.close();
  await folder[Symbol.asyncDispose]();
});

const env = withStateHome({});
const there = () => ({ baseUrl: service.url, apiKey: key, env });
const given = (name?: string, animals?: string) => ({ text: text(name, animals), folder: folder.path });
const failureOf = async (work: Promise<unknown>): Promise<PromptpressError> => {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(PromptpressError);
  return failure as PromptpressError;
};
async function all<T>(rows: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

describe('runPipeline', () => {
  it('runs a text and returns its rows, even if the function is destructured', async () => {
    const { summary, rows, directory } = await runPipeline(given(), there());
    expect(summary).toMatchObject({ end: { kind: 'complete' }, exitCode: 0, slots: { done: 2 } });
    expect(directory).toBe(join(folder.path, 'runs/notes'));
    expect(byStatus(await readManifest(join(directory, 'manifest.csv')))).toEqual({ done: 2 });
    const first = await all(rows());
    expect(first.map(({ cell, slot }) => [cell.vars['animal'], slot.status])).toEqual([
      ['fox', 'done'],
      ['owl', 'done'],
    ]);
    expect(await all(rows())).toEqual(first);
    expect(readFileSync(join(directory, 'run.json'), 'utf8')).not.toContain(key);
  });

  it('continues the run of a file, and pays for nothing again', async () => {
    const file = join(folder.path, 'notes.yaml');
    await writeFile(file, text());
    await runPipeline(file, { ...there(), filter: { animal: 'fox' } });
    expect(service.count('generate')).toBe(1);
    const { summary } = await runPipeline(file, there());
    expect(summary).toMatchObject({ slots: { done: 2 } });
    expect(service.count('generate')).toBe(2);
  });

  it('reads no environment, handles no signal and writes to no console', async () => {
    vi.stubEnv('PROMPTPRESS_BASE_URL', service.url);
    vi.stubEnv('PROMPTPRESS_API_KEY', key);
    const outputs = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
    const before = process.listenerCount('SIGINT');
    try {
      const failure = await failureOf(runPipeline(given(), { env }));
      expect(failure).toMatchObject({ code: 'usage', exitCode: 2 });
      expect([failure.message, failure.hint]).toEqual([
        'No service is named: there is no base address.',
        'Set env.PROMPTPRESS_BASE_URL (or give baseUrl) and apiKey (or env.PROMPTPRESS_API_KEY) to run against a service, or rehearse on this machine without a key (sandbox: true)',
      ]);
      const both = await failureOf(runPipeline(given(), { ...there(), sandbox: true }));
      expect(both.message).toBe('sandbox: true and baseUrl name two services.');
      const keyless = { ...there(), apiKey: '' };
      const { message, hint } = await failureOf(runPipeline(given(), keyless));
      expect(message).toMatch(
        /^apiKey \(or env\.PROMPTPRESS_API_KEY\) is not set: .* of \$\{PROMPTPRESS_API_KEY\}/,
      );
      expect(hint).toBe('Set it, or rehearse without a service (sandbox: true)');
      let during = before;
      const onEvent = (): void => {
        during = Math.max(during, process.listenerCount('SIGINT'));
      };
      await runPipeline(given(), { ...there(), onEvent });
      expect(during).toBe(before);
      for (const output of outputs) expect(output).not.toHaveBeenCalled();
    } finally {
      vi.unstubAllEnvs();
      for (const output of outputs) output.mockRestore();
    }
  });

  it('runs two pipelines at once, and refuses a second run in one directory', async () => {
    const [one, two, again] = await Promise.allSettled([
      runPipeline(given('one'), there()),
      runPipeline(given('two'), there()),
      runPipeline(given('two'), there()),
    ]);
    expect(one).toMatchObject({ value: { summary: { pipeline: 'one', exitCode: 0 } } });
    const [held, refused] = two.status === 'fulfilled' ? [two, again] : [again, two];
    expect(held).toMatchObject({ value: { summary: { pipeline: 'two', exitCode: 0 } } });
    expect(refused).toMatchObject({ reason: { code: 'state.locked', exitCode: 75 } });
    expect(service.count('generate')).toBe(4);
  });

  it('ends cleanly on a signal, and continues with the rest', async () => {
    const stop = new AbortController();
    const many = given('many', '{ from: 1, to: 40 }');
    const limited = { ...many, text: `${many.text}limits: { requests: 1 }\n` };
    const { summary } = await runPipeline(limited, {
      ...there(),
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'job:status' && event.to === 'done') stop.abort();
      },
    });
    expect(summary).toMatchObject({ end: { kind: 'interrupted' }, exitCode: 130 });
    const { done = 0, pending = 0 } = summary.slots ?? {};
    expect(done).toBeGreaterThan(0);
    expect(done + pending).toBe(40);
    expect((await runPipeline(limited, there())).summary).toMatchObject({ slots: { done: 40 } });
    expect(service.count('generate')).toBe(40);
    await expect(runPipeline(limited, { ...there(), signal: stop.signal })).rejects.toThrow('aborted');
  });

  it('throws the reason of a signal that was aborted before the run, and begins nothing', async () => {
    const reason = new Error('enough');
    const rows = Array.from({ length: 20_000 }, (_, row) => `${row}`).join('\n');
    await writeFile(join(folder.path, 'rows.csv'), `animal\n${rows}\n`);
    const table = { ...given(), text: text().replace('animal: [fox, owl]', 'rows: rows.csv') };
    for (const wait of [() => Promise.resolve(), () => new Promise((resolve) => setImmediate(resolve))]) {
      const stop = new AbortController();
      const run = runPipeline(table, { ...there(), signal: stop.signal });
      await wait();
      stop.abort(reason);
      await expect(run).rejects.toBe(reason);
    }
    await expect(runPipeline(given(), { ...there(), signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(existsSync(join(folder.path, 'runs/notes/run.json'))).toBe(false);
    expect(service.requests).toEqual([]);
    expect((await runPipeline(given(), there())).summary).toMatchObject({ slots: { done: 2 } });
  });

  it('ends the run if a listener throws, and throws its error', async () => {
    const error = new Error('a mistake of the program');
    const onEvent = (): never => {
      throw error;
    };
    await expect(runPipeline(given(), { ...there(), onEvent })).rejects.toBe(error);
    expect((await runPipeline(given(), there())).summary).toMatchObject({ slots: { done: 2 } });
    expect(service.count('generate')).toBe(2);
  });

  it('throws an error of a listener unchanged, even one that looks like a disk error', async () => {
    const error = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open', path: '/log' });
    const onEvent = (): never => {
      throw error;
    };
    await expect(runPipeline(given(), { ...there(), onEvent })).rejects.toBe(error);
  });

  it('throws a PromptpressError for the rows of a removed run directory', async () => {
    const { rows, directory } = await runPipeline(given(), there());
    await rm(directory, { recursive: true });
    await expect(all(rows())).rejects.toMatchObject({ name: 'PromptpressError', code: 'usage' });
  });

  it('names the key and the line of a mistake, and the valid values of a filter', async () => {
    const wrong = { ...given(), text: text().replace('generate:', 'generat:') };
    const failure = await failureOf(runPipeline(wrong, there()));
    expect(failure).toMatchObject({ code: 'pipeline.invalid', exitCode: 2 });
    expect(failure.message).toMatch(/^pipeline\.yaml:5:5 error .*generat/);
    expect(failure.diagnostics).toMatchObject([{ line: 5, column: 5 }]);
    expect(await validatePipeline(wrong)).toMatchObject({
      valid: false,
      diagnostics: [{ line: 5, column: 5 }],
    });

    const unknown = await failureOf(runPipeline(given(), { ...there(), filter: { animal: 'cat' } }));
    expect(unknown.code).toBe('usage');
    expect(`${unknown.message} ${unknown.hint}`).toMatch(/animal.*"fox", "owl"/);
    expect(service.requests).toEqual([]);
  });

  it('refuses an untrusted address in the file, and shows no secret of it', async () => {
    const named = {
      ...given(),
      text: `${text()}service: { baseUrl: "${service.url}/\${PROMPTPRESS_VAR_TOKEN}" }\n`,
    };
    const token = 'token-of-the-path-0815';
    const variables = { ...env, PROMPTPRESS_VAR_TOKEN: token };
    const failure = await failureOf(runPipeline(named, { apiKey: key, env: variables }));
    expect(failure.message).toContain('is not trusted');
    expect(`${failure.message}${failure.hint}${String(failure.cause)}`).not.toContain(token);
    expect(service.requests).toEqual([]);
  });
});

it('planPipeline returns what a run would do, and writes nothing', async () => {
  const set = { animal: ['lynx', 'hare', 'fox'] };
  const report = await planPipeline(given(), { sandbox: true, set });
  expect(report).toMatchObject({ pipeline: 'notes', cells: { chosen: 3 }, total: { submits: 3 } });
  expect(existsSync(join(folder.path, 'runs'))).toBe(false);
});

it('validatePipeline finds nothing in a valid pipeline, and names a missing file', async () => {
  expect(await validatePipeline(given())).toEqual({
    file: 'pipeline.yaml',
    valid: true,
    errors: 0,
    warnings: 0,
    diagnostics: [],
  });
  const failure = await failureOf(validatePipeline(join(folder.path, 'absent.yaml')));
  expect(failure.message).toContain('absent.yaml');
});
