import { afterEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults/fault.ts';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import { type Client, start } from '../client.ts';

let client: Client;
let started = false;
afterEach(async () => {
  if (started) await client.sandbox.close();
  started = false;
});

function fault(text: string): Fault {
  const parsed = parseFault(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

async function withFaults(...texts: string[]): Promise<Client> {
  client = await start({ settings: { faults: texts.map(fault) } });
  started = true;
  return client;
}

describe('a fault is read from text', () => {
  test.each([
    [
      'submit:429=2:10%',
      {
        route: 'submit',
        effect: { kind: 'status', status: 429, after: false, retryAfter: 2 },
        when: { kind: 'probability', share: 0.1 },
      },
    ],
    [
      'imagine:504-after:at 3',
      { effect: { kind: 'status', status: 504, after: true }, when: { kind: 'at', number: 3 } },
    ],
    ['fetch:latency=2s', { effect: { kind: 'latency', ms: 2000 }, when: { kind: 'every', count: 1 } }],
    ['image:truncate:every-5', { effect: { kind: 'truncate' }, when: { kind: 'every', count: 5 } }],
    [
      'any:reset-before:0.25',
      { effect: { kind: 'reset', after: false }, when: { kind: 'probability', share: 0.25 } },
    ],
    [
      'imagine:fail=[Internal error] a: b:first 1',
      { effect: { kind: 'fail', reason: '[Internal error] a: b' }, when: { kind: 'first', count: 1 } },
    ],
    ['any:no-http', { effect: { kind: 'no-http', speaks: 'mail' } }],
    ['any:no-http=http2', { effect: { kind: 'no-http', speaks: 'http2' } }],
    ['imagine:fail=[Queue full] a: b', { effect: { kind: 'fail', reason: '[Queue full] a: b' } }],
    ['action:code=23:first 2', { effect: { kind: 'code', code: 23 } }],
  ])('%s', (text, expected) => {
    expect(fault(text)).toMatchObject({ ...expected, text });
  });

  test.each([
    ['429', 'expected route:fault'],
    [
      'upload:429',
      'expected the route imagine, action, modal, blend, describe, video, edits, change, simple-change, shorten, submit, fetch, list-by-condition, cancel, image, ',
    ],
    ['submit:418', 'expected one of the statuses'],
    ['submit:429=soon', 'Retry-After: expected seconds'],
    ['submit:429:sometimes', 'after the last colon, got sometimes'],
    ['submit:429:150%', 'expected a probability'],
    ['submit:429:every 0', 'expected a count from 1'],
    ['submit:latency', 'expected a time'],
    ['fetch:stuck', 'is a fault of submissions'],
    ['fetch:explode', 'expected a status'],
  ])('%s is refused', (text, message) => {
    const parsed = parseFault(text);
    expect(parsed.ok ? '' : parsed.error).toContain(message);
  });
});

test.each(['400', '401', '403', '413', '429', '500', '502', '503', '504', '524'])(
  'status %s on demand, before the request is carried out',
  async (status) => {
    const { sandbox } = await withFaults(`imagine:${status}=7:first 1`);
    const response = await client.imagine('a fox');
    expect(response.status).toBe(Number(status));
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.body.error.message).toMatch(/\(request id: \w+\)$/);
    expect(sandbox.counters().tasks.made).toBe(0);
    expect((await client.imagine('a fox')).status).toBe(200);
  },
);

test.each([
  ['504-after', 504],
  ['hidden-timeout', 400],
  ['reset-after', undefined],
  ['truncate', undefined],
])('%s makes a task without telling the client', async (effect, status) => {
  const { sandbox } = await withFaults(`submit:${effect}:first 1`);
  const response = await client.imagine('a fox').catch(() => undefined);
  expect(response?.status).toBe(status);
  expect(response?.body.result).toBeUndefined();
  expect(sandbox.counters().tasks.made).toBe(1);
});

test('reset-before makes no task', async () => {
  const { sandbox } = await withFaults('submit:reset-before:first 1');
  await expect(client.imagine('a fox')).rejects.toThrow(/fetch failed/);
  expect(sandbox.counters()).toMatchObject({ tasks: { made: 0 }, requests: { imagine: { 0: 1 } } });
});

test('faults answer with a page, a redirect or a code, or make a stuck or failed task', async () => {
  const { clock } = await withFaults(
    'fetch:html:at 1',
    'fetch:redirect:at 2',
    'imagine:code=9:at 1',
    'imagine:stuck:at 2',
    'imagine:fail=[Invalid link] gone:at 3',
    'image:403:first 1',
  );
  const page = await client.send('GET', '/img/task/1/fetch');
  expect([page.status, String(page.body).startsWith('<!doctype html>')]).toEqual([200, true]);
  expect((await client.send('GET', '/img/task/1/fetch')).status).toBe(301);
  expect((await client.imagine('fox 1')).body).toMatchObject({ code: 9, result: null });
  const stuck = (await client.imagine('fox 2')).body.result;
  const failed = (await client.imagine('fox 3')).body.result;
  const fine = (await client.imagine('fox 4')).body.result;
  clock.time += 3_600_000;
  expect((await client.task(stuck)).status).toBe('IN_PROGRESS');
  expect(await client.task(failed)).toMatchObject({ status: 'FAILURE', failReason: '[Invalid link] gone' });
  const { imageUrl } = await client.task(fine);
  expect((await fetch(imageUrl)).status).toBe(403);
  expect((await fetch(imageUrl)).status).toBe(200);
});

test('latency and drip delay a response without changing it', async () => {
  await withFaults('imagine:latency=5ms', 'imagine:drip=10ms');
  expect((await client.imagine('a fox')).body.code).toBe(1);
});

test('faults of a probability repeat with the seed', async () => {
  const run = async (seed: string): Promise<string> => {
    const own = await start({ seed, settings: { queue: 1000, faults: [fault('submit:503:40%')] } });
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) statuses.push((await own.imagine(`fox ${index}`)).status);
    await own.sandbox.close();
    return statuses.join();
  };
  const first = await run('one');
  expect(await run('one')).toBe(first);
  expect(await run('two')).not.toBe(first);
  const struck = first.split(',').filter((status) => status === '503').length;
  expect(struck).toBeGreaterThan(6);
  expect(struck).toBeLessThan(28);
});
