import { expect, test } from 'vitest';

import { parseBounded } from '../../src/service/http/json.ts';
import type { ServiceFailure } from '../../src/service/result.ts';
import type { JsonObject } from '../../src/service/text-service.ts';
import { imagine, never, respondingWith, scriptedFetch, serviceWith } from './scripted-fetch.ts';

const MiB = 1024 * 1024;
const id = '1700000000000001';
const image = (length: number) => ({ mimeType: 'image/png', data: 'A'.repeat(length) });
const accepted = (): Response => Response.json({ code: 1, result: id });

const failureOf = (result: { readonly ok: boolean; readonly error?: ServiceFailure }): unknown =>
  result.ok ? undefined : [result.error?.code, result.error?.class];

/** A task record of so many bytes. */
const record = (bytes: number): string => {
  const start = `{"id":"${id}","status":"SUCCESS","x":"`;
  return `${start}${'A'.repeat(bytes - start.length - 2)}"}`;
};

test('reads a response of 8 MiB, and refuses a larger one, by default', async () => {
  expect((await respondingWith(200, record(8 * MiB)).fetchTask(id, never)).ok).toBe(true);
  const larger = await respondingWith(200, record(8 * MiB + 1)).fetchTask(id, never);
  expect(failureOf(larger)).toEqual(['response.too-large', 'retry']);
});

test('reads a list of all tasks of up to 64 MiB by default', async () => {
  expect((await respondingWith(200, `[${record(64 * MiB - 2)}]`).listTasks?.(never))?.ok).toBe(true);
  const larger = await respondingWith(200, `[${record(64 * MiB - 1)}]`).listTasks?.(never);
  expect(larger).toMatchObject({ ok: false, error: { code: 'service.no-listing' } });
});

test('sends a request up to the bound, and refuses one that is a byte larger', async () => {
  const { fetch, sent } = scriptedFetch(accepted);
  const asked = (length: number, maxRequestBytes?: number) =>
    serviceWith({ fetch, ...(maxRequestBytes !== undefined && { maxRequestBytes }) }).begin(
      { kind: 'describe', fields: {}, images: [image(length)], speed: 'relax' },
      never,
    );
  await asked(100);
  const bytes = JSON.stringify(sent[0]?.body).length;
  expect((await asked(100, bytes)).ok).toBe(true);
  expect(failureOf(await asked(100, bytes - 1))).toEqual(['request.too-large', 'permanent']);
  // 32 MiB unless something else is said.
  expect((await asked(32 * MiB - bytes + 100)).ok).toBe(true);
  expect(failureOf(await asked(32 * MiB - bytes + 101))).toEqual(['request.too-large', 'permanent']);
  expect(sent).toHaveLength(3);
});

test('refuses images that together are longer than any text can be, and does not crash', async () => {
  const images = Array<ReturnType<typeof image>>(24).fill(image(27 * MiB));
  const service = serviceWith({ fetch: () => Promise.reject(new Error('must not be asked')) });
  expect(
    failureOf(await service.begin({ kind: 'imagine', fields: {}, images, speed: 'relax' }, never)),
  ).toEqual(['request.too-large', 'permanent']);
});

test('sends long numbers with all their digits', async () => {
  let body: unknown;
  const service = serviceWith({
    fetch: (_url, init) => {
      body = init?.body;
      return Promise.resolve(accepted());
    },
  });
  const seeds = parseBounded('{"seed":12345678901234567890,"seeds":[-9007199254740993]}') as JsonObject;
  await service.begin(
    { kind: 'imagine', fields: { prompt: 'x', ...seeds }, speed: 'relax', extra: { inner: seeds } },
    never,
  );
  expect(body).toBe(
    '{"botType":"IMG_JOURNEY","prompt":"x","seed":12345678901234567890,"seeds":[-9007199254740993],' +
      '"inner":{"seed":12345678901234567890,"seeds":[-9007199254740993]}}',
  );
});

test('does not stop the run for a page in place of one task once another task was read', async () => {
  const page = '<!doctype html><title>Back soon</title>';
  const answers = [new Response('{"status":"IN_PROGRESS"}'), new Response(page), new Response(page)];
  const { fetch } = scriptedFetch(() => answers.shift() ?? Response.error());
  const service = serviceWith({ fetch });
  expect((await service.fetchTask(id, never)).ok).toBe(true);
  expect(failureOf(await service.fetchTask('1700000000000002', never))).toEqual([
    'service.not-json',
    'retry',
  ]);
  // That tasks can be fetched shows that the address is right, and not that submissions are offered.
  expect(failureOf(await imagine(service))).toEqual(['service.not-offered', 'permanent']);
});

test('does not take a submission at one speed as proof that another speed is offered', async () => {
  const answers = [accepted(), new Response('<title>Home</title>'), new Response('<title>Home</title>')];
  const { fetch } = scriptedFetch(() => answers.shift() ?? Response.error());
  const service = serviceWith({ fetch });
  const submitted = (speed: 'relax' | 'fast') =>
    service.begin({ kind: 'imagine', fields: { prompt: 'x' }, speed }, never);
  expect((await submitted('relax')).ok).toBe(true);
  expect(failureOf(await submitted('fast'))).toEqual(['service.not-offered', 'permanent']);
  expect(failureOf(await submitted('relax'))).toEqual(['service.not-json', 'lost']);
});
