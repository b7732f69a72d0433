import { expect, test } from 'vitest';
import { epoch, imagineRecord, textRecord } from './jobs.ts';
import { isPaid, type PaceSetting, pacedLoop, pacedRun, servedIn } from './paced-run.ts';
import {
  after,
  atOnce,
  byChance,
  cutting,
  only,
  PacedGateway,
  PacedServer,
  refusals,
} from './paced-server.ts';

const minute = 60_000;
const texts: PaceSetting = { work: 'texts', jobs: 2000, rules: () => [], untilMs: minute };

test('a run and a loop that nobody refuses are served as many texts as fit into a minute', async () => {
  for (const server of [await pacedRun(texts), pacedLoop(texts), pacedLoop(texts, false)]) {
    expect(servedIn(server, 0, minute)).toBeGreaterThan(1800);
    expect(servedIn(server, 0, minute)).toBeLessThan(2000);
  }
});

test('a loop keeps the place of a job that waits, or gives it to another', () => {
  const setting: PaceSetting = { ...texts, rules: () => [byChance(0.5, refusals['429'])] };
  expect(servedIn(pacedLoop(setting, false), 0, minute)).toBeGreaterThan(
    1.5 * servedIn(pacedLoop(setting), 0, minute),
  );
});

test('a known limit is kept by both', async () => {
  const setting: PaceSetting = { ...texts, limits: { text: { count: 60, perMs: minute } } };
  for (const server of [await pacedRun(setting), pacedLoop(setting)])
    expect(server.log.filter(isPaid).length).toBeLessThanOrEqual(60);
});

test('a stream that another request cuts off ends at that moment, for a run and for a loop', async () => {
  const setting: PaceSetting = { ...texts, work: 'streams', jobs: 2, rules: () => [cutting(1)] };
  for (const { log } of [await pacedRun(setting), pacedLoop(setting)]) {
    const [cut, second] = log;
    expect(cut?.refusal?.status).toBe('cut');
    expect(cut?.endsAt).toBe(second?.at);
    // Its job hears of it then, and asks again.
    expect(log[2]?.key).toBe(cut?.key);
    expect(log[2]?.at).toBeLessThan((cut?.endsAt ?? 0) + 2000);
  }
});

test('a refusal reaches a run in the bytes of a server: it waits for as long as Retry-After says', async () => {
  const setting: PaceSetting = { ...texts, jobs: 2, rules: () => [atOnce(1, after(refusals['429'], 30))] };
  const { log } = await pacedRun(setting);
  expect(log.map(({ refusal }) => refusal?.status)).toEqual([undefined, 429, undefined]);
  expect((log[2]?.at ?? 0) - (log[1]?.endsAt ?? 0)).toBeGreaterThanOrEqual(30_000);
});

test('images are taken, polled and pressed, and a rule is for the requests that it is about', async () => {
  const rules = () => [only(({ kind }) => kind === 'click', byChance(1, refusals['code 23']))];
  const server = await pacedRun({ ...texts, work: 'clicks', jobs: 5, rules });
  expect(servedIn(server, 0, minute, 'imagine')).toBe(5);
  expect(servedIn(server, 0, minute, 'click')).toBe(0);
  expect(server.log.some(({ kind }) => kind === 'click')).toBe(true);
});

test('what a server tells in headers comes to the run with every answer and refusal', async () => {
  const told = { of: 'requests', limit: 9, remaining: 3, resetMs: 2000 } as const;
  const server = new PacedServer({
    rules: [atOnce(1, refusals['429'])],
    tells: () => ({ 'ratelimit-limit': '9', 'ratelimit-remaining': '3', 'ratelimit-reset': '2' }),
  });
  const gateway = new PacedGateway(server, epoch);
  const text = textRecord({ key: 'a' });
  const image = imagineRecord({ key: 'b' });
  for (const { told: heard } of [
    gateway.ask(text, epoch),
    gateway.ask(text, epoch),
    gateway.submit(image, undefined, epoch + 2000),
    gateway.fetch('1', epoch + 9000),
  ])
    expect(heard).toEqual([told]);
  expect(server.log.map(({ refusal }) => refusal?.status)).toEqual([undefined, 429, undefined, undefined]);
});
