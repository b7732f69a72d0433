import { describe } from 'vitest';
import { describeFences } from './contract.ts';
import { FencedState, holderOf } from './fenced-state.ts';
import { fencedStore } from './fenced-store.ts';
import { WorkerView } from './worker-view.ts';

/** The state of the simulator keeps what the real one promises. */
describe('the shared state in memory', () => {
  describeFences((count) => {
    const state = new FencedState();
    const workers = Array.from({ length: count }, () => {
      const view = new WorkerView(state);
      return {
        ...fencedStore(state, view),
        take: (slice: number) => Promise.resolve(state.claim(slice).epoch),
        left: (slice: number) => {
          const left = state.left(slice);
          view.read(left.map(({ record }) => record.key));
          return Promise.resolve(left);
        },
        prefetch: (keys: readonly string[]) => {
          view.read(keys);
          return Promise.resolve();
        },
        holder: holderOf,
        end: (slice: number, epoch: number) => {
          state.end(holderOf(slice, epoch));
          return Promise.resolve();
        },
      };
    });
    return Promise.resolve(workers);
  });
});
