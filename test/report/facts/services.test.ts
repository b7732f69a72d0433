import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobStatus } from '../../../src/plan/job.ts';
import { enterService, StateServices, stateOfService } from '../../../src/report/facts/services.ts';
import type { StateStore } from '../../../src/state/store.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';

const put = (state: StateStore, key: string, status: JobStatus, attempts = 1): void =>
  state.commit({ records: [imagineRecord({ key, status, attempts })], attempts: [] });

describe('the services of a state', () => {
  it('are separated by the order of jobs, in whatever order runs record them', async () => {
    const turn = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      jobs: fc.array(fc.constantFrom<JobStatus>('done', 'in-doubt', 'submitting', 'running', 'pending'), {
        maxLength: 3,
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
        const state = memoryStore();
        const owners = new Map<string, { readonly id: string; readonly status: JobStatus }>();
        for (const { id, jobs } of turns) {
          await enterService(state, { id, origin: `https://${id}.example` });
          for (const status of jobs) {
            const key = `job-${owners.size}`;
            put(state, key, status);
            owners.set(key, { id, status });
          }
        }
        const services = await StateServices.of(state.reader);
        const keysOfAll = [...owners.keys()].map((key) => ({ key }));
        for await (const { job, owner } of services.withOwners(keysOfAll))
          expect(owner).toBe(owners.get(job.key)?.id);
        expect((await services.last())?.id).toBe([...owners.values()].at(-1)?.id);
        for (const id of ['a', 'b', 'c']) {
          const of = [...owners.values()].filter((owner) => owner.id !== id);
          expect(services.areAllOf(id)).toBe(of.length === 0);
          const counted = await services.others(id);
          const own = (other: string) => of.filter((owner) => owner.id === other);
          expect(new Set(counted.map((other) => other.id))).toEqual(new Set(of.map((owner) => owner.id)));
          for (const other of counted) {
            expect(other.origin).toBe(`https://${other.id}.example`);
            expect(other.jobs).toBe(own(other.id).length);
            expect(other.doubts).toBe(
              own(other.id).filter(({ status }) => ['in-doubt', 'submitting'].includes(status)).length,
            );
          }
          const seen = await stateOfService(state, id);
          const keys = [...owners].filter(([, owner]) => owner.id === id);
          expect(seen.unfinished().map(({ key }) => key)).toEqual(
            keys.filter(([, { status }]) => ['submitting', 'running'].includes(status)).map(([key]) => key),
          );
          const doubtful: string[] = [];
          for await (const { key } of seen.reader.withStatus('in-doubt')) doubtful.push(key);
          expect(doubtful.sort()).toEqual(
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

  it('are as many as there were, however often runs without a new job change them', async () => {
    const state = memoryStore();
    await enterService(state, { id: 'a' });
    put(state, 'job-1', 'done');
    for (let n = 0; n < 50; n += 1) await enterService(state, { id: n % 2 === 0 ? 'b' : 'c' });
    expect(JSON.parse(state.fact('services') ?? '')).toHaveLength(2);
  });

  it('do not include one to which nothing was ever submitted', async () => {
    const state = memoryStore();
    await enterService(state, { id: 'a' });
    put(state, 'job-1', 'pending', 0);
    expect(await (await StateServices.of(state.reader)).last()).toBeUndefined();
    put(state, 'job-1', 'pending', 1);
    expect(await (await StateServices.of(state.reader)).last()).toEqual({ id: 'a' });
  });
});
