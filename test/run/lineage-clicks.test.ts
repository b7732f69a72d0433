import { describe, expect, it } from 'vitest';
import { failure } from '../rig/failure.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, world } from '../rig/world.ts';
import { namesOldTask, recordAt, redo } from './lineage-rig.ts';

describe('a button that is pressed again because its dialog is gone', () => {
  it('names the task that was pressed', async () => {
    let refused = 0;
    let isGone = false;
    const here = await world(
      `name: t
steps:
  grid: { imagine: a fox, path: U1 }
  hat: { from: grid/U1, click: Custom Zoom, prompt: "hat --zoom 1.5" }
`,
      {
        onModal: () => {
          refused += 1;
          return refused === 1 ? { kind: 'refused', code: 24, message: 'banned prompt' } : undefined;
        },
        onFetch: (id) =>
          isGone && here.service.tasks.get(id)?.waits
            ? failure('service.task-unknown', 'permanent', { status: 404 })
            : undefined,
      },
    );
    here.run();
    expect(here.statuses()).toEqual({ done: 2, failed: 1 });
    isGone = true;
    here.run({ settings: virtualSettings({ retryFailed: {} }) });
    isGone = false;
    here.run();
    expect(here.statuses()).toEqual({ done: 3 });
    expect(here.service.submits.filter(({ pressed }) => pressed.endsWith('Custom Zoom'))).toHaveLength(2);
    const parent = recordAt(here, 'grid/U1').taskId;
    expect([...here.store.withStatus('done')].map((record) => record.parentTaskId)).toContain(parent);
    expect(namesOldTask(here)).toEqual([]);
  });
});

describe('a click that is in doubt when its parent is redone', () => {
  it('names the old task where its own is found, and is then redone once', async () => {
    let clicks = 0;
    let stops = true;
    const here = await world(grid(1, 'U1'), {
      onSubmit: ({ pressed }) => {
        if (pressed === '') return undefined;
        clicks += 1;
        if (clicks === 1)
          return { error: failure('service.unavailable', 'retry', { status: 504 }), made: true };
        return undefined;
      },
      onSearch: (tasks) => (stops ? failure('service.unauthorized', 'stop', { status: 401 }) : tasks),
    });
    expect(here.run().end?.kind).toBe('stopped');
    const first = recordAt(here, 'grid').taskId;
    expect(recordAt(here, 'grid/U1')).toMatchObject({ status: 'pending', parentTaskId: first });
    stops = false;
    here.run(redo(here, 'grid'));
    const second = recordAt(here, 'grid').taskId;
    expect(second).not.toBe(first);
    here.run();
    // What was found came from the old grid; it was made again from the new one, and nothing was made twice from either.
    expect([here.statuses(), clicks, namesOldTask(here)]).toEqual([{ done: 2 }, 2, []]);
    expect(recordAt(here, 'grid/U1').taskId).toBe([...here.service.tasks.keys()][3]);
    expect(here.run().submits).toBe(0);
  });

  it('names the new task where it is submitted again', async () => {
    let clicks = 0;
    let stops = true;
    const here = await world(grid(1, 'U1'), {
      onSubmit: ({ pressed }) =>
        pressed !== '' && ++clicks === 1
          ? { error: failure('service.unavailable', 'retry', { status: 504 }) }
          : undefined,
      onSearch: (tasks) => (stops ? failure('service.unauthorized', 'stop', { status: 401 }) : tasks),
    });
    here.run();
    stops = false;
    here.run(redo(here, 'grid'));
    expect([here.statuses(), clicks, namesOldTask(here)]).toEqual([{ done: 2 }, 2, []]);
    expect(here.run().submits).toBe(0);
  });
});

describe('a click that is deferred until its parent was redone', () => {
  it('presses the new task, and is paid once', async () => {
    let isDown = true;
    const here = await world(grid(1, 'U1 → Vary (Strong)'), {
      onSubmit: ({ pressed }) => {
        if (!pressed.endsWith('Vary (Strong)')) return undefined;
        if (isDown) return { error: failure('service.rejected', 'permanent', { status: 400 }) };
        const grids = [...here.service.tasks.values()].filter(({ pressed }) => pressed === '/U1');
        return grids.length > 1
          ? undefined
          : { error: failure('service.unavailable', 'retry', { status: 503 }) };
      },
    });
    here.run();
    expect(here.statuses()).toEqual({ done: 2, failed: 1 });
    isDown = false;
    here.run({ ...redo(here, 'grid'), settings: virtualSettings({ retryFailed: {} }) });
    const varied = [...here.service.tasks.values()].filter(({ pressed }) => pressed.endsWith('(Strong)'));
    expect([here.statuses(), varied.length, namesOldTask(here)]).toEqual([{ done: 3 }, 1, []]);
    expect(here.run().submits).toBe(0);
  });
});

describe('a redo that the gateway answers with the task that it made before', () => {
  it('names the parent of that task, and is not redone', async () => {
    let old: string | undefined;
    const here = await world(grid(1, 'U1'), {
      onSubmit: ({ pressed }) =>
        pressed !== '' && old !== undefined ? { kind: 'accepted', taskId: old, code: 21 } : undefined,
    });
    here.run();
    const parent = recordAt(here, 'grid').taskId;
    old = recordAt(here, 'grid/U1').taskId;
    here.run(redo(here, 'grid'));
    expect(recordAt(here, 'grid').taskId).not.toBe(parent);
    expect(recordAt(here, 'grid/U1')).toMatchObject({ status: 'done', taskId: old, parentTaskId: parent });
    expect(here.run().submits).toBe(0);
  });
});
