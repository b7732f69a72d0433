import { describe, expect, it } from 'vitest';
import { findMissing } from '../../../src/cli/run/find-tasks.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { memoryStore } from '../../rig/memory-store.ts';

const task = (id: string, tag: string): Task => ({
  id,
  tag,
  state: 'success',
  status: 'SUCCESS',
  buttons: [],
});

describe('tasks of submissions that an older state does not know', () => {
  it('are kept by their tag, whatever the service has tagged others with', async () => {
    const store = memoryStore();
    const tags = ['constructor', 'toString', '__proto__', 'aa11', 'aa11'];
    const value = tags.map((tag, index) => task(`T${index}`, tag));
    const service = { listTasks: () => Promise.resolve({ ok: true, value } as const) };
    const said = await findMissing(
      store,
      '/runs/one',
      { submits: 2, of: 2 },
      service,
      new AbortController().signal,
    );
    expect(said).toContain('tasks of 4 jobs');
    const found = JSON.parse(store.fact('state.found') ?? '') as Record<string, readonly unknown[]>;
    expect(Object.keys(found).sort()).toEqual([...new Set(tags)].sort());
    expect(found['aa11']).toEqual([
      { id: 'T3', state: 'success' },
      { id: 'T4', state: 'success' },
    ]);
  });
});
