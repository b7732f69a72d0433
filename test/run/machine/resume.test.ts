import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import type { GatewayScript } from '../../rig/gateway/scripted-gateway.ts';
import { epoch } from '../../rig/jobs.ts';
import { textReply } from '../../rig/text-reply.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, type World, world } from '../../rig/world.ts';

/** Key of the only job that presses this button, or of the only imagine. */
const keyOf = ({ plan, cells, store }: World, branch = ''): string => {
  const [cell] = cells;
  if (cell === undefined) throw new Error('no cell');
  const slot = plan.resolve(cell, (key) => store.get(key)).find((one) => one.branch.join('/') === branch);
  if (slot?.job === undefined) throw new Error(`no job at "${branch}"`);
  return slot.job.key;
};

/** A world whose first run died at the first turn at which exactly such tasks were under way. */
async function diesWith(
  text: string,
  script: GatewayScript,
  wanted: (running: readonly JobRecord[]) => boolean,
): Promise<World> {
  for (let turns = 1; turns < 100; turns++) {
    const here = await world(text, script);
    here.run({ dieAfterTurns: turns });
    const left = here.store.unfinished();
    if (left.every(({ status }) => status === 'running') && wanted(left)) return here;
  }
  throw new Error('no such moment');
}

const again = (keys: readonly string[]) => ({ keys, again: true });
const pressed = ({ service }: World): string[] => service.submits.map((submit) => submit.pressed);
/** Pressed twice: first as it was shown, then as it was read for the press. */
const rejected = { error: failure('service.rejected', 'permanent', { status: 400 }) };

describe('a job that is redone', () => {
  it('is pressed only once its new task is finished', async () => {
    const before = await world(grid(1));
    before.run();
    const after = await before.edited(grid(1, 'U1'));
    after.run({ redo: again([keyOf(after)]) });
    expect([pressed(after), after.statuses()]).toEqual([['', '', '/U1'], { done: 2 }]);
    const parent = after.store.get(keyOf(after))?.taskId;
    expect(parent).toBe([...after.service.tasks.keys()][1]);
  });

  it('is finished before failed jobs below it are retried', async () => {
    const settings = [{ retryFailed: {} }, { retryFailed: { code: 'service.rejected' } }];
    for (const retried of settings) {
      let broken = true;
      const here = await world(grid(1, 'U1'), {
        onSubmit: (submit) => (broken && submit.pressed === '/U1' ? rejected : undefined),
      });
      here.run();
      broken = false;
      here.run({ settings: virtualSettings(retried), redo: again([keyOf(here)]) });
      expect([pressed(here), here.statuses()]).toEqual([['', '/U1', '/U1', '', '/U1'], { done: 2 }]);
    }
  });

  it.each([
    ['failed', rejected, { retryFailed: {} }],
    ['is in doubt', { error: failure('service.timeout', 'lost') }, { inDoubt: 'retry' }],
  ] as const)(
    'is finished, with all jobs below it, before a click far below it that %s is submitted again',
    async (_title, trouble, word) => {
      let broken = true;
      const here = await world(grid(1, 'U1 → Vary (Strong)'), {
        onSubmit: (submit) => (broken && submit.pressed === '/U1/Vary (Strong)' ? trouble : undefined),
      });
      here.run();
      broken = false;
      here.run({ settings: virtualSettings(word), redo: again([keyOf(here)]) });
      const refused = trouble === rejected ? ['/U1/Vary (Strong)'] : [];
      const first = ['', '/U1', '/U1/Vary (Strong)', ...refused];
      expect(pressed(here)).toEqual([...first, '', '/U1', '/U1/Vary (Strong)']);
      expect(here.statuses()).toEqual({ done: 3 });
    },
  );

  it('is finished before a click far below it, whose overdue task has failed meanwhile, is submitted again', async () => {
    let late = true;
    const here = await world(grid(1, 'U1 → Vary (Strong)'), {
      duration: ({ pressed: path }) => (late && path === '/U1/Vary (Strong)' ? 1_250_000 : 30_000),
      fails: ({ pressed: path }) => (late && path === '/U1/Vary (Strong)' ? 'Invalid parameter' : undefined),
    });
    here.run();
    late = false;
    expect([...here.store.withStatus('failed')].map(({ error }) => error?.code)).toEqual(['task.timeout']);
    here.run({ settings: virtualSettings({ retryFailed: {} }), redo: again([keyOf(here)]) });
    expect(pressed(here)).toEqual(['', '/U1', '/U1/Vary (Strong)', '', '/U1', '/U1/Vary (Strong)']);
    expect(here.statuses()).toEqual({ done: 3 });
  });

  it('lets a failed click far below it be retried in a run in which the new result could not be made', async () => {
    const click = '/U1/Vary (Strong)';
    let broken = click;
    const here = await world(grid(1, 'U1 → Vary (Strong)'), {
      onSubmit: (submit) => (broken === submit.pressed ? rejected : undefined),
    });
    here.run();
    // The grid from now on.
    broken = '';
    here.run({ settings: virtualSettings({ retryFailed: {} }), redo: again([keyOf(here)]) });
    expect(pressed(here)).toEqual(['', '/U1', click, click, '', click]);
    expect(here.statuses()).toEqual({ done: 3 });
  });

  it('is not pressed by its judge’s former choice while the judge is called again', async () => {
    let best = 1;
    const judged = await world(
      `name: judged
steps:
  grid: { imagine: a fox }
  pick:
    from: grid
    generate: { model: m, prompt: Which?, images: [parent], responseSchema: { type: object, properties: { best: { type: integer } } } }
  best: { from: grid, click: 'U{{ steps.pick.json.best }}' }
`,
      { onAsk: () => textReply({ text: JSON.stringify({ best }) }) },
    );
    judged.run();
    const redo = [...judged.store.withStatus('done')].map(({ key }) => key);
    best = 3;
    judged.run({ redo: again(redo) });
    expect(redo).toHaveLength(3);
    expect(pressed(judged)).toEqual(['', '/U1', '', '/U3']);
  });

  it('redoes the jobs below it, once, whether or not they are named too', async () => {
    const here = await world(grid(1, 'U1'));
    here.run();
    here.run({ redo: again([keyOf(here)]) });
    expect(pressed(here)).toEqual(['', '/U1', '', '/U1']);
    here.run({ redo: again([keyOf(here, 'U1'), keyOf(here)]) });
    expect([pressed(here), here.statuses()]).toEqual([['', '/U1', '', '/U1', '', '/U1'], { done: 2 }]);
  });

  it('is redone once where several cells share it', async () => {
    const here = await world(`name: t
matrix: { unused: [x, y, z] }
steps: { grid: { imagine: one picture } }
`);
    here.run();
    here.run({ redo: again([keyOf(here)]) });
    expect(here.service.submits).toHaveLength(2);
  });

  it('is retried once where several cells share a failure', async () => {
    const here = await world(
      `name: t
matrix: { unused: [x, y, z] }
steps: { grid: { imagine: one picture } }
`,
      { onSubmit: () => rejected },
    );
    here.run();
    here.run({ settings: virtualSettings({ retryFailed: {}, limits: { tasks: 1, requests: 1 } }) });
    expect(here.service.submits).toHaveLength(2);
  });
});

describe('a task that an earlier run left', () => {
  const busy = 'Internal error';

  it('is settled, but not paid again when its cell is no longer planned', async () => {
    const before = await diesWith(
      grid(3),
      { fails: ({ number }) => (number === 3 ? busy : undefined) },
      (records) => records.length === 3,
    );
    const narrowed = await before.edited(grid(2));
    expect(narrowed.run().end).toEqual({ kind: 'complete' });
    expect([narrowed.service.submits.length, narrowed.statuses()]).toEqual([3, { done: 2 }]);

    const whole = await narrowed.edited(grid(3));
    expect(whole.run().end).toEqual({ kind: 'complete' });
    expect([whole.service.submits.length, whole.statuses()]).toEqual([4, { done: 3 }]);
  });

  const film = `name: t
steps:
  film: { video: { image: "https://example.com/a.png", motion: low } }
  more: { from: film, video: { extend: 1, motion: low } }
`;
  const unkept = grid(1, 'U1').replace('imagine:', 'keep: false\n    imagine:');

  it.each([
    ['is pressed', grid(1, 'U1'), grid(1, 'U1'), true],
    ['is extended', film, film, true],
    ['is pressed', unkept, grid(1, 'U1'), false],
  ])('and fails %s again once what it comes from is there again (%#)', async (_, first, then, redone) => {
    // A crash leaves the job; the next run makes its parent again, or brings its image in, and is killed at that.
    const script: GatewayScript = {
      duration: ({ number }) => (number === 2 ? 400_000 : number > 2 ? 900_000 : 30_000),
      fails: ({ number }) => (number === 2 ? busy : undefined),
      ...(!redone && {
        onSave: (_key, saves) =>
          saves < 40
            ? {
                ok: false,
                error: { code: 'download.status', class: 'throttle', message: 'later', retryAfterMs: 60_000 },
              }
            : undefined,
      }),
    };
    const left = async (turns: number): Promise<World | undefined> => {
      const child = await diesWith(
        first,
        script,
        (records) => records.length === 1 && records[0]?.parent !== undefined,
      );
      const again = await child.edited(then);
      const [{ parent = '' } = {}] = again.store.unfinished();
      again.run({
        dieAfterTurns: turns,
        ...(redone && { redo: { keys: [parent], again: true } }),
      });
      const statuses = again.store.unfinished().map(({ status }) => status);
      return statuses.length === 2 && statuses.every((status) => status === 'running' || status === 'saving')
        ? again
        : undefined;
    };
    let here: World | undefined;
    for (let turns = 1; here === undefined && turns < 60; turns++) here = await left(turns);
    if (here === undefined) throw new Error('no such moment');
    const sentBeside: (string | undefined)[] = [];
    const { end } = here.run({
      onEffect: ({ job, send }) => {
        if (send.kind === 'submit') sentBeside.push(job.parentTaskId);
      },
    });
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 2 }]);
    const [record] = [...here.store.withStatus('done')].filter(({ parent }) => parent !== undefined);
    expect(sentBeside).toEqual([here.store.get(record?.parent ?? '')?.taskId]);
    expect(sentBeside[0]).toBeDefined();
  });

  it('is pressed again only on a finished task', async () => {
    const here = await diesWith(
      grid(1, 'U1'),
      { fails: ({ number }) => (number === 2 ? busy : undefined) },
      (records) => records.length === 1 && records[0]?.kind === 'click',
    );
    const result = here.run({ redo: again([keyOf(here)]) });
    expect(result.end).toEqual({ kind: 'complete' });
    expect([pressed(here), here.statuses()]).toEqual([['', '/U1', '', '/U1'], { done: 2 }]);
  });
});

describe('a finished task whose image is not here', () => {
  /** The image's link is refused, and then a poll of the task for a fresh one gets this answer. */
  async function lostWith(poll: ServiceFailure): Promise<World> {
    let saves = 0;
    const here = await world(grid(1), {
      onSave: () => {
        saves += 1;
        return saves === 1
          ? { ok: false, error: { code: 'download.refused', class: 'fresh-link', message: 'gone' } }
          : undefined;
      },
      onFetch: (_id, _fetches, at) => (saves === 1 && at < epoch + 600_000 ? poll : undefined),
    });
    here.run();
    expect([...here.store.withStatus('failed')].map(({ error }) => error?.code)).toEqual([poll.code]);
    return here;
  }

  it('is downloaded by --retry-failed, whatever error had hidden its link', async () => {
    const here = await lostWith(failure('service.forbidden', 'permanent', { status: 403 }));
    here.run({ settings: virtualSettings({ retryFailed: {} }), startAt: epoch + 700_000 });
    expect([here.service.submits.length, here.statuses()]).toEqual([1, { done: 1 }]);
  });

  it('is made again by --retry-failed where the service no longer knows the task', async () => {
    const here = await lostWith(failure('service.task-unknown', 'retry', { status: 404 }));
    here.run({ settings: virtualSettings({ retryFailed: {} }), startAt: epoch + 700_000 });
    expect([here.service.submits.length, here.statuses()]).toEqual([2, { done: 1 }]);
  });

  it('is kept for all where one of several cells that share it wants to keep it', async () => {
    for (const order of ['[no, yes]', '[yes, no]']) {
      const here = await world(`name: t
matrix: { keep: ${order} }
steps:
  passing: { imagine: one picture, keep: false, when: "keep == 'no'" }
  kept: { imagine: one picture, when: "keep == 'yes'" }
`);
      expect(here.run().end).toEqual({ kind: 'complete' });
      const done = [...here.store.withStatus('done')];
      expect([here.service.submits.length, done.map(({ artifacts }) => artifacts.length)]).toEqual([1, [1]]);
    }
  });

  it('is downloaded without a submission once a slot wants to keep it', async () => {
    const text = (keep: boolean): string => `name: t
steps: { grid: { imagine: one picture, keep: ${keep} } }
`;
    const before = await world(text(false));
    before.run();
    const after = await before.edited(text(true));
    after.run();
    expect([after.service.submits.length, after.store.get(keyOf(after))?.artifacts.length]).toEqual([1, 1]);
  });
});

describe('the jobs that a later run may change', () => {
  it('--code narrows --retry-failed to failures of that code', async () => {
    let broken = true;
    const here = await world(grid(3), {
      onSubmit: ({ prompt }) =>
        !broken || prompt === 'picture 1'
          ? undefined
          : prompt === 'picture 2'
            ? rejected
            : { error: failure('service.forbidden', 'permanent', { status: 403 }) },
    });
    here.run();
    broken = false;
    here.run();
    expect(here.statuses()).toEqual({ done: 1, failed: 2 });
    here.run({ settings: virtualSettings({ retryFailed: { code: 'service.forbidden' } }) });
    expect(here.statuses()).toEqual({ done: 2, failed: 1 });
  });

  it('--only leaves the jobs of other steps unchanged', async () => {
    const here = await world(`name: t
steps:
  grid: { imagine: one picture }
  best: { from: grid, click: U1 }
`);
    here.run({ steps: new Set(['grid']) });
    expect([pressed(here), here.statuses()]).toEqual([[''], { done: 1, pending: 1 }]);
    here.run();
    expect(here.statuses()).toEqual({ done: 2 });
  });

  it('a failure with a time in the future may be retried', async () => {
    let broken = true;
    const here = await world(grid(1), { onSubmit: () => (broken ? rejected : undefined) });
    here.run();
    broken = false;
    here.run({ settings: virtualSettings({ retryFailed: {} }), startAt: epoch - 3_600_000 });
    expect(here.statuses()).toEqual({ done: 1 });
  });
});

describe('a conversation that failed', () => {
  const asks = `name: test
steps:
  ask:
    generate: { model: m, prompt: hi, rounds: 1, functions: { sky: { answer: { colour: blue } } } }
`;

  it('is restarted by --retry-failed without its earlier rounds', async () => {
    const rounds: number[] = [];
    const here = await world(asks, {
      onAsk: ({ number, record }) => {
        rounds.push(record.turns?.length ?? 0);
        return number > 3 ? undefined : textReply({ functionCalls: [{ name: 'sky', args: {} }] });
      },
    });
    here.run();
    expect([...here.store.withStatus('failed')].map(({ error }) => error?.code)).toEqual(['function.rounds']);
    here.run({ settings: virtualSettings({ retryFailed: {} }) });
    expect([here.statuses(), rounds]).toEqual([{ done: 1 }, [0, 2, 0, 2]]);
  });
});

describe('a text that no slot wanted at its reply', () => {
  const asks = (keep: string): string => `name: test
matrix: { n: { from: 1, to: 3 } }
steps:
  ask: { generate: { model: m, prompt: "{{ n }}" }${keep} }
  draw: { imagine: "{{ steps.ask.text }}" }
`;

  it('needs no request when a slot of the next run wants it', async () => {
    const before = await world(asks(', keep: false'));
    before.run();
    const [calls, submits] = [before.service.calls.length, before.service.submits.length];

    const after = await before.edited(asks(''));
    expect(after.statuses()).toEqual({ done: 6 });
    expect(after.run().end).toEqual({ kind: 'complete' });
    expect(after.statuses()).toEqual({ done: 6 });
    expect([after.service.calls.length, after.service.submits.length]).toEqual([calls, submits]);
    expect(after.store.totals().attempts).toBe(6);
  });
});
