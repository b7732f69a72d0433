import { describe, expect, it } from 'vitest';
import { findMissing, takingOn } from '../../../../src/app/run/doubt/find-tasks.ts';
import type { ImageService, Task } from '../../../../src/service/image-service.ts';
import { memoryStore } from '../../../rig/memory-store.ts';

const task = (id: string, tag: string): Task => ({
  id,
  tag,
  state: 'success',
  status: 'SUCCESS',
  buttons: [],
});

describe('tasks of submissions that an older state does not know', () => {
  it('are kept by their tag, even if the service lists other tags', async () => {
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

  it('are those since the last run that the state knows, for clocks that differ by five minutes at most', async () => {
    const store = memoryStore();
    const since = 1_700_000_000_000;
    const moments = [-300_001, -300_000, -1, 0, 1, 86_400_000];
    const value = moments.map((at) => ({ ...task(`T${at}`, `k${at}`), submittedAt: since + at }));
    const service = { listTasks: () => Promise.resolve({ ok: true, value } as const) };
    const { signal } = new AbortController();
    await findMissing(store, '/runs/one', { submits: 2, of: 2, since }, service, signal);
    const found = JSON.parse(store.fact('state.found') ?? '') as Record<string, unknown>;
    expect(Object.keys(found).sort()).toEqual(
      moments
        .slice(1)
        .map((at) => `k${at}`)
        .sort(),
    );
  });

  it('are kept beside those of an earlier search', async () => {
    const store = memoryStore();
    const { signal } = new AbortController();
    for (const key of ['aa11', 'bb22']) {
      const value = [task(`T-${key}`, key)];
      const service = { listTasks: () => Promise.resolve({ ok: true, value } as const) };
      await findMissing(store, '/runs/one', { submits: 2, of: 2 }, service, signal);
    }
    const found = JSON.parse(store.fact('state.found') ?? '') as Record<string, unknown>;
    expect(Object.keys(found)).toEqual(['aa11', 'bb22']);
  });

  it('answer a dialog by the task that followed it, never by the one that waits for the answer', async () => {
    const open = { id: 'T3', state: 'modal' };
    const followed = { id: 'T4', state: 'running' };
    const answer = async (...tasks: readonly object[]): Promise<unknown> => {
      const store = memoryStore();
      store.setFact('state.found', JSON.stringify({ aa11: tasks }));
      const modal = () =>
        Promise.resolve({ ok: true, value: { kind: 'accepted', taskId: 'new', code: 1 } } as const);
      const taking = await takingOn({ modal } as unknown as ImageService, store.reader);
      const request = { speed: 'relax', fields: {}, taskId: 'T3', tag: 'aa11' } as const;
      const result = await taking.modal(request, new AbortController().signal);
      return result.ok && 'taskId' in result.value && result.value.taskId;
    };
    expect([
      await answer(open),
      await answer(open, followed),
      await answer({ ...open, state: 'running' }),
    ]).toEqual(['new', 'T4', 'T3']);
  });

  it('are returned without a request; real requests report when they are sent, like the service itself', async () => {
    const store = memoryStore();
    store.setFact('state.found', JSON.stringify({ aa11: [{ id: 'T3', state: 'success' }] }));
    const asked: string[] = [];
    const said = (name: string) => (_request: unknown, _signal: AbortSignal, onLeave?: () => void) => {
      asked.push(name);
      onLeave?.();
      return Promise.resolve({ ok: true, value: { kind: 'accepted', taskId: name, code: 1 } } as const);
    };
    const service = { tellsLeaving: true, begin: said('begin') };
    const taking = await takingOn(service as unknown as ImageService, store.reader);
    expect(taking.tellsLeaving).toBe(true);
    const { signal } = new AbortController();
    let left = 0;
    const onLeave = (): void => void (left += 1);
    const submission = { speed: 'relax', fields: {} } as const;
    expect(
      await taking.begin({ kind: 'imagine', ...submission, tag: 'aa11' }, signal, onLeave),
    ).toMatchObject({
      value: { taskId: 'T3' },
    });
    expect([asked, left]).toEqual([[], 0]);
    await taking.begin({ kind: 'imagine', ...submission, tag: 'bb22' }, signal, onLeave);
    await taking.begin({ ...submission, kind: 'describe', images: [] }, signal, onLeave);
    expect([asked, left]).toEqual([['begin', 'begin'], 2]);
  });
});
