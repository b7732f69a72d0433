import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobStatus } from '../../../src/plan/job.ts';
import { type RunFacts, writeRunFacts } from '../../../src/report/facts/run.ts';
import { enterService, StateServices, stateOfService } from '../../../src/report/facts/services.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';

const put = (state: StateStore, key: string, status: JobStatus, attempts = 1): void =>
  state.commit({ records: [imagineRecord({ key, status, attempts })], attempts: [] });

const facts = (serviceId: string, origin?: string): RunFacts => ({
  filesRoot: '/',
  tables: [],
  serviceId,
  ...(origin === undefined ? {} : { origin }),
  selection: {},
  startedAt: 1,
  atStart: { settled: 0, attempts: 0 },
});

describe('the services of a state', () => {
  it('are separated by the order in which jobs came, whatever order runs enter them in', () => {
    const turn = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      jobs: fc.array(fc.constantFrom<JobStatus>('done', 'in-doubt', 'submitting', 'running', 'pending'), {
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
        const state = memoryStore();
        const owners = new Map<string, { readonly id: string; readonly status: JobStatus }>();
        for (const { id, jobs } of turns) {
          enterService(state, { id, origin: `https://${id}.example` });
          for (const status of jobs) {
            const key = `job-${owners.size}`;
            put(state, key, status);
            owners.set(key, { id, status });
          }
        }
        const services = new StateServices(state);
        for (const [key, { id }] of owners) expect(services.idOf(key)).toBe(id);
        expect(services.last?.id).toBe([...owners.values()].at(-1)?.id);
        for (const id of ['a', 'b', 'c']) {
          const of = [...owners.values()].filter((owner) => owner.id !== id);
          expect(services.areAllOf(id)).toBe(of.length === 0);
          const counted = services.others(id);
          const own = (other: string) => of.filter((owner) => owner.id === other);
          expect(new Set(counted.map((other) => other.id))).toEqual(new Set(of.map((owner) => owner.id)));
          for (const other of counted) {
            expect(other.origin).toBe(`https://${other.id}.example`);
            expect(other.jobs).toBe(own(other.id).length);
            expect(other.doubts).toBe(
              own(other.id).filter(({ status }) => ['in-doubt', 'submitting'].includes(status)).length,
            );
          }
          const seen = stateOfService(state, id);
          const keys = [...owners].filter(([, owner]) => owner.id === id);
          expect(seen.unfinished().map(({ key }) => key)).toEqual(
            keys.filter(([, { status }]) => ['submitting', 'running'].includes(status)).map(([key]) => key),
          );
          expect([...seen.withStatus('in-doubt')].map(({ key }) => key).sort()).toEqual(
            keys
              .filter(([, { status }]) => status === 'in-doubt')
              .map(([key]) => key)
              .sort(),
          );
          expect(seen.totals()).toEqual(state.totals());
        }
      }),
    );
  });

  it('of a state that an earlier release wrote are the one of its last run', () => {
    const state = memoryStore();
    writeRunFacts(state, facts('https://a.example'));
    put(state, 'job-1', 'done');
    expect(new StateServices(state).last).toEqual({ id: 'https://a.example' });
    enterService(state, { id: 'b' });
    put(state, 'job-2', 'in-doubt');
    writeRunFacts(state, facts('b'));
    const services = new StateServices(state);
    expect([services.idOf('job-1'), services.idOf('job-2')]).toEqual(['https://a.example', 'b']);
    expect(services.others('b')).toEqual([{ id: 'https://a.example', jobs: 1, doubts: 0 }]);
  });

  it('do not include one of which nothing was ever tried', () => {
    const state = memoryStore();
    enterService(state, { id: 'a' });
    put(state, 'job-1', 'pending', 0);
    expect(new StateServices(state).last).toBeUndefined();
    put(state, 'job-1', 'pending', 1);
    expect(new StateServices(state).last).toEqual({ id: 'a' });
  });
});
