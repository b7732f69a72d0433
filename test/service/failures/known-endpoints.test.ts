import { describe, expect, test } from 'vitest';

import { KnownEndpoints } from '../../../src/service/failures/known-endpoints.ts';
import { failure } from '../../rig/failure.ts';
import { imagine, never, scriptedFetch, serviceWith } from '../scripted-fetch.ts';
import { call, plainReply, textServiceWith } from '../text/text-service.ts';

const accepted = (): Response => Response.json({ code: 1, result: '1700000000000001' });
const running = (): Response => Response.json({ id: '1', status: 'IN_PROGRESS' });
const page = (): Response =>
  new Response('<html><title>502</title></html>', { headers: { 'content-type': 'text/html' } });
const redirect = (status = 302): Response =>
  new Response(null, { status, headers: { location: 'https://login.example.com/?token=x' } });
const lostPath = (): Response => new Response('404 page not found', { status: 404 });
const unknownPath = (): Response =>
  Response.json({ error: { message: 'Invalid URL (POST /img/submit/imagine)' } }, { status: 404 });

/** A service that gives these responses one after the other. */
function answeringInTurn(...answers: readonly (() => Response)[]) {
  let turn = 0;
  const { fetch } = scriptedFetch(() => (answers[turn++] ?? accepted)());
  return serviceWith({ fetch });
}

const kinds: readonly (readonly [string, () => Response, string, string])[] = [
  ['a page with 200', page, 'service.not-json', 'lost'],
  ['a redirect', redirect, 'service.redirect', 'retry'],
  ['a redirect to what was done', () => redirect(303), 'service.redirect', 'lost'],
  ['a plain 404', lostPath, 'service.not-json', 'retry'],
  ['a path that is not known', unknownPath, 'service.not-found', 'retry'],
];

describe.each(kinds)('%s', (_, strange, code, ofSubmission) => {
  test('stops the run if the endpoint has never answered well', async () => {
    expect(await imagine(answeringInTurn(strange))).toMatchObject({ error: { code, class: 'stop' } });
    expect(await answeringInTurn(strange).fetchTask('1', never)).toMatchObject({ error: { class: 'stop' } });
  });

  test('is passing if it has, and a submission may have been processed', async () => {
    const service = answeringInTurn(accepted, strange, accepted);
    expect((await imagine(service)).ok).toBe(true);
    const met = await imagine(service);
    const isUnmade = ofSubmission === 'retry';
    expect(met).toMatchObject({ error: { code, class: ofSubmission, ...(isUnmade && { unmade: true }) } });
    expect(met.ok ? '' : met.error.message).not.toMatch(/base address|token/);
    expect((await imagine(service)).ok).toBe(true);
    const looking = answeringInTurn(running, strange);
    await looking.fetchTask('1', never);
    expect(await looking.fetchTask('2', never)).toMatchObject({ error: { code, class: 'retry' } });
  });

  test('stops the run after ten in a row, and not before', async () => {
    const nine = Array.from({ length: 9 }, () => strange);
    const service = answeringInTurn(accepted, ...nine, accepted, ...nine, strange);
    const met: unknown[] = [];
    for (let n = 0; n < 21; n += 1) {
      const result = await imagine(service);
      met.push(result.ok ? 'ok' : result.error.class);
    }
    const passed = Array.from({ length: 9 }, () => ofSubmission);
    expect(met).toEqual(['ok', ...passed, 'ok', ...passed, 'stop']);
  });

  test('leaves the submission that stops the run as uncertain as those before it, only if the endpoint had answered', async () => {
    const openOne = async (before: readonly (() => Response)[]): Promise<unknown> => {
      const service = answeringInTurn(...before, strange);
      for (const _ of before) await imagine(service);
      const result = await imagine(service);
      return result.ok ? 'ok' : [result.error.class, result.error.mayBeDone];
    };
    const nine = Array.from({ length: 9 }, () => strange);
    const isOpen = ofSubmission === 'lost' ? true : undefined;
    expect(await openOne([accepted, ...nine])).toEqual(['stop', isOpen]);
    expect(await openOne(nine)).toEqual(['stop', undefined]);
    const looking = answeringInTurn(running, ...nine, strange);
    for (const _ of [running, ...nine]) await looking.fetchTask('1', never);
    expect(await looking.fetchTask('1', never)).not.toHaveProperty('error.mayBeDone');
  });
});

test('one endpoint says nothing about another', async () => {
  const service = answeringInTurn(accepted, redirect, redirect);
  expect((await imagine(service)).ok).toBe(true);
  expect(await service.fetchTask('1', never)).toMatchObject({ error: { class: 'stop' } });
  const click = { taskId: '1', customId: 'c', speed: 'relax' } as const;
  expect(await service.action(click, never)).toMatchObject({
    error: { code: 'service.not-offered', class: 'permanent', about: 'not-offered' },
  });
});

test('rejections and lost connections neither prove an address nor disprove it', async () => {
  const answers = [accepted, ...Array.from({ length: 9 }, () => page)];
  const busy = (): Response => Response.json({ error: { message: 'busy' } }, { status: 503 });
  const service = answeringInTurn(...answers, busy, page);
  for (const _ of answers) await imagine(service);
  expect(await imagine(service)).toMatchObject({ error: { code: 'service.unavailable' } });
  expect(await imagine(service)).toMatchObject({ error: { class: 'stop' } });
  expect(await imagine(answeringInTurn(busy, page))).toMatchObject({ error: { class: 'retry' } });
});

test('does not count a refusal among strange answers: ten strange ones stop the run with or without it', async () => {
  const eight = Array.from({ length: 8 }, () => page);
  const busy = (): Response => Response.json({ error: { message: 'busy' } }, { status: 503 });
  const service = answeringInTurn(accepted, ...eight, busy, page, page);
  for (const _ of [accepted, ...eight, busy]) await imagine(service);
  expect(await imagine(service)).toMatchObject({ error: { class: 'lost' } });
  expect(await imagine(service)).toMatchObject({ error: { class: 'stop' } });
});

test('an endpoint that was never asked has not answered', () => {
  const endpoints = new KnownEndpoints();
  expect(endpoints.standing('imagine')).toBe('unknown');
  endpoints.note('imagine', { ok: true, value: 1 });
  expect([endpoints.standing('imagine'), endpoints.standing('modal')]).toEqual(['right', 'elsewhere']);
});

test('a list of models proves nothing about other endpoints', () => {
  const endpoints = new KnownEndpoints();
  endpoints.note('models', { ok: true, value: [] });
  expect([endpoints.standing('models'), endpoints.standing('chat')]).toEqual(['right', 'unknown']);
});

test('an address that answered in an earlier run is right, but its endpoints are unknown', () => {
  const endpoints = new KnownEndpoints({ answeredBefore: true });
  expect([endpoints.standing('imagine'), endpoints.hasAnswered]).toEqual(['before', false]);
  endpoints.note('imagine', { ok: true, value: 1 });
  expect([endpoints.standing('imagine'), endpoints.hasAnswered]).toEqual(['right', true]);
  // It may be the one that answered then.
  expect(endpoints.standing('chat')).toBe('untried');
});

test('an endpoint that is missing ten times while others answer does not exist, even if an earlier run was answered', () => {
  const missing = {
    ok: false,
    error: failure('service.not-found', 'retry', { wrongAddress: true }),
  } as const;
  const endpoints = new KnownEndpoints({ answeredBefore: true });
  endpoints.note('imagine', { ok: true, value: 1 });
  for (let n = 0; n < 12; n++) endpoints.note('describe', missing);
  // All may be gone for the moment, as where a proxy is restarted.
  expect(endpoints.standing('describe')).toBe('untried');
  endpoints.note('fetch', { ok: true, value: 1 });
  expect([endpoints.standing('describe'), endpoints.standing('chat')]).toEqual(['elsewhere', 'untried']);
});

test('text calls and lists of tasks are judged in the same way', async () => {
  let turn = 0;
  const { fetch } = scriptedFetch(() => (turn++ === 0 ? Response.json(plainReply) : page()));
  const text = textServiceWith({ fetch });
  expect((await text.ask(call({ prompt: 'a' }), never)).ok).toBe(true);
  expect(await text.ask(call({ model: 'other', prompt: 'b' }), never)).toMatchObject({
    error: { code: 'service.not-json', class: 'retry' },
  });
  const listing = answeringInTurn(() => Response.json([]), page);
  expect(await listing.fetchTasks(['1'], never)).toEqual({ ok: true, value: [] });
  expect(await listing.fetchTasks(['1'], never)).toMatchObject({
    error: { code: 'service.not-json', class: 'retry' },
  });
});
