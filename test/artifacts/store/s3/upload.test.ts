import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readBroken } from '../../../../src/artifacts/store/s3/failure.ts';
import { proxyRefusal } from '../../../../src/service/http/connect/connector.ts';
import { proxiesOf } from '../../../../src/service/http/connect/proxies.ts';
import { filesIn } from '../../places.ts';
import { listed, put } from '../stored.ts';
import { codeOf, openRig, putBytes } from './rig.ts';

const key = 'a run/é+1/images/ab/abc-1.png';
const name = 'images/ab/abc-1.png';

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

it('writes an object with its hash and type under a condition, and leaves nothing on the disk', async () => {
  const { fake, open, directory } = await openRig();
  const store = open();
  await put(store, name, 'picture');
  const found = fake.objects.get(key);
  expect(found?.content.toString()).toBe('picture');
  expect(found?.headers).toEqual({
    'content-type': 'image/png',
    'x-amz-meta-sha256': sha256('picture'),
  });
  expect(fake.requests.map(({ method, headers }) => [method, headers['if-none-match']])).toEqual([
    ['PUT', '*'],
  ]);
  await store.close();
  expect(filesIn(directory)).toEqual([]);
});

it('accepts the same bytes as stored, and sends nothing twice', async () => {
  const { fake, open } = await openRig();
  const store = open();
  await put(store, name, 'picture');
  await put(store, name, 'picture');
  expect([...fake.counts]).toEqual([
    ['PUT object', 2],
    ['HEAD object', 1],
  ]);
  await store.close();
});

it('looks for a large file that may be there before it sends it', async () => {
  const { fake, open } = await openRig();
  const store = open();
  const bytes = Buffer.alloc(8 * 1024 * 1024 + 1);
  await putBytes(store, name, bytes);
  await putBytes(store, name, bytes);
  expect([...fake.counts]).toEqual([
    ['HEAD object', 2],
    ['PUT object', 1],
  ]);
  await store.close();
});

it('compares the bytes of an object that somebody else has put there', async () => {
  const { fake, open } = await openRig();
  fake.store(key, 'picture');
  const store = open();
  await put(store, name, 'picture');
  expect(fake.objects.get(key)?.headers).toEqual({});
  await put(store, name, 'another');
  expect(fake.objects.get(key)?.headers['x-amz-meta-sha256']).toBe(sha256('another'));
  await store.close();
});

it('does not let a late write replace a newer one', async () => {
  const { fake, client, open } = await openRig();
  const store = open();
  let letGo = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  // The first write is held up behind the second, as one of a process that was stopped.
  fake.fault = ({ method }, count) => (method === 'PUT' && count === 1 ? { kind: 'held', until } : undefined);
  const late = client.ask({
    method: 'PUT',
    name,
    headers: { 'if-none-match': '*' },
    body: Buffer.from('of the zombie'),
    doing: 'write',
    accepts: ({ status }) => status === 412,
  });
  while (fake.requests.length === 0) await new Promise(setImmediate);
  await put(store, name, 'current');
  letGo();
  expect((await late).problem?.status).toBe(412);
  expect(fake.objects.get(key)?.content.toString()).toBe('current');
  // The same where the late one was to replace an object that has been replaced since.
  const etag = fake.objects.get(key)?.etag ?? '';
  await put(store, name, 'newest');
  const stale = await client.ask({
    method: 'PUT',
    name,
    headers: { 'if-match': etag },
    body: Buffer.from('of the zombie'),
    doing: 'write',
    accepts: ({ status }) => status === 412,
  });
  expect(stale.problem?.status).toBe(412);
  expect(fake.objects.get(key)?.content.toString()).toBe('newest');
  await store.close();
});

it.each([
  ['503 SlowDown', { status: 503, code: 'SlowDown' }],
  ['a wait that is asked for', { status: 503, code: 'SlowDown', headers: { 'retry-after': '7' } }],
  ['a connection that breaks before', { kind: 'reset' }],
  ['a connection that breaks behind the write', { kind: 'lost' }],
  ['a reset before', { kind: 'reset', byReset: true }],
  ['a reset in the middle of the body', { kind: 'torn', byReset: true }],
  ['a reset behind the write', { kind: 'lost', byReset: true }],
  ['an internal error', { status: 500, code: 'InternalError' }],
] as const)('sends again after %s', async (_, fault) => {
  const { fake, clock, open } = await openRig();
  const store = open();
  fake.fault = ({ method }, count) => (method === 'PUT' && count <= 2 ? fault : undefined);
  await put(store, name, 'picture');
  expect(fake.objects.get(key)?.content.toString()).toBe('picture');
  expect(clock.waits).toEqual('headers' in fault ? [5000, 2000, 7000] : [150, 300]);
  await store.close();
});

it('distinguishes a missing local file from a connection, and does not wait for it', async () => {
  const { fake, clock, open, directory } = await openRig();
  const store = open();
  const file = await store.put('images/ab/abc-1');
  await file.write(Buffer.from('picture'));
  await file.seal();
  rmSync(join(directory, 'images/.incoming'), { recursive: true });
  expect(await codeOf(file.finish(name))).toBe('disk.io, stop');
  expect([fake.objects.size, clock.waits]).toEqual([0, []]);
  await store.close();
});

it('gives up after its patience, and stops the run', async () => {
  const { fake, clock, open } = await openRig();
  const store = open();
  fake.fault = () => ({ status: 503, code: 'SlowDown' });
  const begun = clock.now();
  expect(await codeOf(put(store, name, 'picture'))).toBe('s3.unreachable, stop');
  expect(clock.now() - begun).toBeGreaterThan(150_000);
  expect(clock.now() - begun).toBeLessThanOrEqual(180_000);
  expect(Math.max(...clock.waits)).toBeLessThanOrEqual(20_000);
  await store.close();
});

it('reports once after five seconds that the store is away, and then that it is back', async () => {
  const { fake, client, clock, open } = await openRig();
  const store = open();
  const said: [number, string | undefined][] = [];
  const begun = clock.now();
  client.onAway = (why) => said.push([clock.now() - begun, why]);
  fake.fault = ({ method }, count) =>
    method === 'PUT' && count <= 9 ? { kind: 'reset', byReset: true } : undefined;
  await Promise.all([put(store, name, 'picture'), store.get('images/cd/cde-1.png', 10)]);
  expect(said).toEqual([
    [5000, expect.stringContaining('ECONNRESET')],
    [expect.any(Number), undefined],
  ]);
  expect([client.away, said[1]?.[0]]).toEqual([undefined, expect.any(Number)]);
  await store.close();
});

it('reports once a store that answers neither reads nor writes', async () => {
  const { fake, client, open } = await openRig({}, { patienceMs: 3_600_000 });
  const store = open();
  const said: boolean[] = [];
  client.onAway = (why) => said.push(why !== undefined);
  let count = 0;
  fake.fault = () => (++count <= 24 ? { kind: 'reset' } : undefined);
  await Promise.all([put(store, name, 'picture'), store.get('images/cd/cde-1.png', 10)]);
  expect(said).toEqual([true, false]);
  await store.close();
});

it('ends a wait when the run is left', async () => {
  const leave = new AbortController();
  const { fake, clock, open } = await openRig({}, { signal: leave.signal });
  const store = open();
  fake.fault = () => ({ status: 503, code: 'SlowDown' });
  clock.at = () => {
    queueMicrotask(() => leave.abort());
    return () => undefined;
  };
  expect(await codeOf(put(store, name, 'picture'))).toBe('download.aborted, retry');
  await store.close();
});

it('takes its listener back from the signal of the process when it is closed', async () => {
  const { signal } = new AbortController();
  const { client } = await openRig({}, { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  client.close();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it.each([
  ['passes over conditions', { ignoresConditions: true }, undefined],
  ['knows no conditions', {}, { status: 501, code: 'NotImplemented' }],
] as const)('writes and replaces in a store that %s', async (_, options, fault) => {
  const { fake, open } = await openRig(options);
  if (fault !== undefined)
    fake.fault = ({ headers }) =>
      headers['if-none-match'] === undefined && headers['if-match'] === undefined ? undefined : fault;
  const store = open();
  await put(store, name, 'picture');
  await put(store, name, 'another');
  expect(fake.objects.get(key)?.content.toString()).toBe('another');
  expect(await listed(store)).toEqual([name]);
  await store.close();
});

it.each([
  [403, 's3.unreachable'],
  [407, 's3.unreachable'],
  [502, undefined],
])('a proxy that answers %i stops the run if no wait changes that', (status, code) => {
  const proxy = proxiesOf({ http_proxy: 'http://me:secret@proxy.test' })(new URL('http://bucket.test'));
  if (proxy === undefined) throw new Error('no proxy');
  const read = readBroken(proxyRefusal(proxy, 'bucket.test:80', status), 'http://bucket.test');
  expect('class' in read ? read.code : undefined).toBe(code);
  expect(read.message).toContain('proxy.test:80');
  expect(read.message).not.toContain('secret');
});
