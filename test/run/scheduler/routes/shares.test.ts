import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../../../src/run/events.ts';
import { Routes } from '../../../../src/run/scheduler/routes/routes.ts';
import { hasPlace, type Shares, sharesOf } from '../../../../src/run/scheduler/routes/shares.ts';
import { imagineRecord, job, textRecord } from '../../../rig/jobs.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';

const kinds = ['submit', 'poll', 'text', 'download'] as const;
const none: Shares = { submit: 0, poll: 0, text: 0, download: 0 };
const sum = (shares: Shares): number => kinds.reduce((total, kind) => total + shares[kind], 0);

describe('the shares of the requests in flight', () => {
  it('are no more than there are, and one at least for each kind', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 500 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (requests, backlog) => {
          const shares = sharesOf(requests, backlog);
          expect(sum(shares)).toBeLessThanOrEqual(requests);
          for (const kind of kinds) expect(shares[kind]).toBeGreaterThanOrEqual(1);
        },
      ),
    );
  });

  it('are an eighth each for submissions and polls, a quarter for texts, and more for downloads the more images wait', () => {
    expect(sharesOf(32)).toEqual({ submit: 4, poll: 4, text: 8, download: 2 });
    expect([0.5, 0.75, 1].map((backlog) => sharesOf(32, backlog).download)).toEqual([2, 7, 12]);
  });

  it('are lent while nobody claims them, and no longer', () => {
    const shares = sharesOf(16);
    const inFlight = { ...none, download: 12 };
    expect(hasPlace('download', 16, shares, { inFlight, claims: () => false })).toBe(true);
    expect(hasPlace('download', 16, shares, { inFlight, claims: (kind) => kind === 'text' })).toBe(false);
    expect(hasPlace('text', 16, shares, { inFlight, claims: () => true })).toBe(true);
    expect(hasPlace('text', 16, shares, { inFlight: { ...none, download: 16 }, claims: () => true })).toBe(
      false,
    );
  });
});

/** Routes that always have something to send, of requests that each take as long as they are drawn to. */
function busy(requests: number, isActive: boolean): Routes {
  const active = new Map([
    ['t', job(textRecord({ key: 't' }))],
    ['i', job(imagineRecord({ key: 'i' }), { nextRequest: { kind: 'submit' } })],
  ]);
  const routes = new Routes(virtualSettings({ limits: { tasks: 12, requests } }), active, () => 1, {
    load: { isActive, backlog: 0, isShut: false, isAway: false, isHeldBack: () => false },
  });
  for (const kind of kinds) {
    const one = active.get(kind === 'text' ? 't' : 'i');
    if (one !== undefined) routes.queues[kind].join(one);
  }
  return routes;
}

describe('requests of four kinds that never run dry', () => {
  it('never exceed the limit, and none of them waits for long, however long each takes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        fc.array(fc.nat(1000), { minLength: 50, maxLength: 50 }),
        (requests, isActive, chances) => {
          const routes = busy(requests, isActive);
          const underWay: Route[] = [];
          const sent: Route[] = [];
          for (let step = 0; step < 600; step += 1) {
            for (let next = routes.order.find((kind) => routes.hasRoom(kind, 0)); next; ) {
              routes.onSent(next, 0);
              underWay.push(next);
              sent.push(next);
              next = routes.order.find((kind) => routes.hasRoom(kind, 0));
            }
            expect(underWay.length).toBeLessThanOrEqual(requests);
            // One of the three that were sent first: each ends some time.
            const oldest = Math.max(1, Math.min(3, underWay.length));
            const [ended] = underWay.splice((chances[step % 50] ?? 0) % oldest, 1);
            if (ended !== undefined) routes.onResult(ended, 0);
          }
          // Any 40 requests and as many as are in flight hold one of each kind.
          const window = 40 + 4 * requests;
          for (let at = 0; at + window <= sent.length; at += 1)
            expect(new Set(sent.slice(at, at + window)).size).toBe(4);
        },
      ),
      { numRuns: 60 },
    );
  });
});
