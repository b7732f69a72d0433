import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../src/run/machine/job.ts';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import { imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const routesFor = (requests: number, ...jobs: readonly Job[]): Routes =>
  new Routes(
    virtualSettings({ limits: { tasks: 12, requests } }),
    new Map(jobs.map((one) => [one.record.key, one])),
    () => 1,
  );

describe('the requests of a run', () => {
  it('are open to polls and submissions for a quarter, whatever downloads and text calls there are', () => {
    const routes = routesFor(8);
    routes.onServed('text');
    for (let sent = 0; routes.hasRoom('text') && sent < 3; sent++) routes.onSent('text', 0);
    for (let sent = 0; routes.hasRoom('download') && sent < 99; sent++) routes.onSent('download', 0);
    // Downloads leave room for as many text calls again.
    expect([routes.queues.text.inFlight, routes.queues.download.inFlight]).toEqual([3, 1]);
    for (let sent = 0; routes.hasRoom('text') && sent < 99; sent++) routes.onSent('text', 0);
    expect([routes.queues.text.inFlight, routes.queues.download.inFlight]).toEqual([5, 1]);
    expect([routes.hasRoom('text'), routes.hasRoom('poll'), routes.hasRoom('submit')]).toEqual([
      false,
      true,
      true,
    ]);
    routes.onResult('download', 0);
    expect(routes.hasRoom('text')).toBe(true);
  });

  it('are one submission and four texts until the service has served one', () => {
    const routes = routesFor(32);
    for (const [name, most] of [
      ['submit', 1],
      ['text', 4],
    ] as const) {
      for (let sent = 0; routes.hasRoom(name) && sent < 9; sent++) routes.onSent(name, 0, `${sent}`);
      expect(routes.queues[name].inFlight).toBe(most);
      routes.onServed(name);
      expect(routes.hasRoom(name)).toBe(true);
    }
    expect(routes.hasRoom('poll')).toBe(true);
  });

  it('are used by a text call where there is only one', () => {
    expect(routesFor(1).hasRoom('text')).toBe(true);
  });

  it('that cost are held together until one of them is answered', () => {
    const routes = routesFor(8);
    routes.onServed('submit');
    expect(routes.isSpending).toBe(false);
    routes.onSent('submit', 0);
    routes.hold('text');
    expect([routes.isSpending, routes.hasRoom('text'), routes.hasRoom('submit')]).toEqual([
      true,
      false,
      true,
    ]);
    routes.onResult('submit', 0);
    expect(routes.hasRoom('text')).toBe(true);
  });

  it('that cost are released by the answer to a text call too, and by no poll', () => {
    const routes = routesFor(8);
    routes.onSent('text', 0);
    routes.onSent('poll', 0);
    routes.hold('submit');
    routes.onResult('poll', 0);
    expect(routes.hasRoom('submit')).toBe(false);
    routes.onResult('text', 0);
    expect([routes.hasRoom('submit'), routes.isSpending, routes.inFlight]).toEqual([true, false, 0]);
  });

  it('are as many at once as the limit, of all routes together', () => {
    const routes = routesFor(2);
    routes.onSent('poll', 0);
    expect(routes.hasRoom('submit')).toBe(true);
    routes.onSent('poll', 0);
    expect(routes.hasRoom('submit')).toBe(false);
  });

  it('are one alone while a route is probed whose requests were all refused', () => {
    const waiting = job(imagineRecord());
    const routes = routesFor(8, waiting);
    routes.queues.poll.join(waiting);
    const poll = routes.queues.poll.lane();
    const answer = (key: string, kind: 'trouble' | 'served', at: number): void => {
      routes.onResult('poll', at, key);
      poll.note({ kind, reason: 'down' }, at, key);
    };
    for (const key of ['a', 'b']) routes.onSent('poll', 0, key);
    for (const key of ['a', 'b']) answer(key, 'trouble', 100);
    let now = 100;
    while (routes.nextAtOf('poll', now) > now) now = routes.nextAtOf('poll', now);
    expect(now).toBeGreaterThanOrEqual(100 + virtualSettings().retry.baseMs);
    expect(now).toBeLessThanOrEqual(100 + 2 * virtualSettings().retry.baseMs);
    expect(poll.isProbing).toBe(true);
    routes.onSent('poll', now, 'c');
    expect([routes.next('poll', now), routes.hasRoom('submit')]).toEqual([undefined, true]);
    answer('c', 'served', now + 100);
    expect([routes.next('poll', now + 100), poll.isProbing]).toEqual([poll, false]);
  });

  it('of texts wait for a pause of their route, whatever the tokens of a minute allow', () => {
    const waiting = job(textRecord());
    const routes = routesFor(8, waiting);
    const { text } = routes.queues;
    text.join(waiting);
    expect(routes.nextAtOf('text', 0)).toBeLessThanOrEqual(0);
    routes.onSent('text', 0, waiting.record.key);
    text.lane(waiting).note({ kind: 'throttled', retryAfterMs: 5000, reason: '429' }, 0, waiting.record.key);
    expect([routes.nextAtOf('text', 0), routes.nextAtOf('poll', 0)]).toEqual([
      5000,
      Number.POSITIVE_INFINITY,
    ]);
  });
});
