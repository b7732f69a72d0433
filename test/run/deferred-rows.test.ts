import { describe, expect, it } from 'vitest';
import { failure } from '../rig/failure.ts';
import type { GatewayScript } from '../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, type World, world } from '../rig/world.ts';
import { Chance } from '../sim/chance.ts';

const noAccount = { kind: 'queue-full', code: 3, message: '无可用的账号实例' } as const;
const fails = { kind: 'queue-full', code: 9, message: '提交失败，系统异常' } as const;
const throttled = { error: failure('service.throttled', 'throttle', { status: 429 }) };

const errors = ({ store }: World) => [...store.withStatus('failed')].map(({ error }) => error);
const attempts = ({ store }: World) => [...store.withStatus('failed')].map((record) => record.attempts);

describe('a row that the service always defers', () => {
  it.each<[what: string, text: string, onSubmit: GatewayScript['onSubmit'], good: number, error: object]>([
    [
      'the first one',
      grid(40),
      ({ prompt }) => (prompt === 'picture 1' ? noAccount : undefined),
      39,
      { code: 'submit.refused', message: expect.stringContaining('(code 3): 无可用的账号实例') },
    ],
    [
      'one of many',
      grid(40),
      ({ prompt }) => (prompt === 'picture 20' ? noAccount : undefined),
      39,
      { code: 'submit.refused' },
    ],
    [
      'a click',
      grid(40, 'U1'),
      ({ prompt, pressed }) => (prompt === 'picture 3' && pressed !== '' ? fails : undefined),
      79,
      { code: 'submit.refused', message: expect.stringContaining('(code 9)') },
    ],
    [
      'by 429',
      grid(40),
      ({ prompt }) => (prompt === 'picture 3' ? throttled : undefined),
      39,
      { code: 'service.throttled', httpStatus: 429, message: expect.stringContaining('others were served') },
    ],
  ])(
    'does not block other rows, and fails with the service’s message: %s',
    async (_what, text, onSubmit, good, error) => {
      const here = await world(text, onSubmit === undefined ? {} : { onSubmit });
      const { end, endedAt, events } = here.run();
      expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: good, failed: 1 }]);
      expect(errors(here)).toMatchObject([error]);
      // Nothing was made of it.
      expect(attempts(here)).toEqual([0]);
      const last = events.filter((event) => event.type === 'job:status' && event.to === 'done').length;
      expect(last).toBe(good);
      expect(endedAt).toBeLessThan(Date.UTC(2023, 10, 14, 22, 13, 20) + 30 * 60_000);
      expect(here.run().submits).toBe(0);
    },
  );

  it('does not block other rows with a single task slot', async () => {
    const here = await world(grid(30), {
      onSubmit: ({ prompt }) => (prompt === 'picture 1' ? noAccount : undefined),
    });
    const settings = virtualSettings({ limits: { tasks: 1, requests: 1 } });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 29, failed: 1 });
  });

  it('lets all others finish where every second row is deferred', async () => {
    const here = await world(grid(60), {
      onSubmit: ({ prompt }) => (Number(prompt.slice(8)) % 2 === 1 ? noAccount : undefined),
    });
    here.run();
    expect(here.statuses()).toMatchObject({ done: 30 });
    expect(here.store.totals().attempts).toBe(30);
  });

  it('is in doubt with a reason where an earlier try may have made a task', async () => {
    let tries = 0;
    const timeout = { error: failure('service.unavailable', 'retry', { status: 504 }) };
    const here = await world(grid(40), {
      onSubmit: ({ prompt }) => (prompt !== 'picture 3' ? undefined : ++tries === 1 ? timeout : noAccount),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 39, 'in-doubt': 1 });
    const [doubtful] = here.store.withStatus('in-doubt');
    expect(doubtful?.error?.message).toContain('An earlier try of this submission may have made a task');
    expect(doubtful?.error?.message).toContain('(code 3): 无可用的账号实例');
  });

  it('keeps its task where its confirm is deferred, and is not pressed again', async () => {
    const text = `name: t
matrix: { n: { from: 1, to: 20 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
  zoom: { from: grid/U1, click: Custom Zoom, prompt: "x --zoom 2" }
`;
    let refuses = true;
    const here = await world(text, {
      onModal: ({ record }) => (refuses && record.origin.cell === 2 ? noAccount : undefined),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect([here.statuses(), errors(here)]).toMatchObject([
      { done: 59, failed: 1 },
      [{ code: 'submit.refused' }],
    ]);
    refuses = false;
    const clicks = here.service.submits.length;
    expect(here.run({ settings: virtualSettings({ retryFailed: {} }) }).end).toEqual({ kind: 'complete' });
    expect([here.statuses(), here.service.submits.length]).toEqual([{ done: 60 }, clicks]);
  });

  it('does not block the calls of another model where its own is overloaded', async () => {
    const here = await world(
      `name: t
matrix: { n: { from: 1, to: 60 }, model: [text-pro, text-flash] }
steps:
  say: { generate: { model: "{{ model }}", prompt: "hello {{ n }}" } }
`,
      {
        onAsk: ({ record: { request } }) =>
          request.kind === 'generate' && request.fields['model'] === 'text-pro'
            ? failure('service.throttled', 'throttle', { status: 429 })
            : undefined,
      },
    );
    here.run();
    expect(here.statuses()).toMatchObject({ done: 60 });
  });

  it('ends where it is one text call among others', async () => {
    const here = await world(
      `name: t
matrix: { n: { from: 1, to: 120 } }
steps:
  say: { generate: { model: text-pro, prompt: "hello {{ n }}" } }
`,
      {
        onAsk: ({ record: { origin } }) =>
          origin.cell === 1 ? failure('service.throttled', 'throttle', { status: 429 }) : undefined,
      },
    );
    const settings = virtualSettings({ limits: { tasks: 1, requests: 2 } });
    expect(here.run({ settings, latency: () => 5000 }).end).toEqual({ kind: 'complete' });
    expect([here.statuses(), errors(here), attempts(here)]).toMatchObject([
      { done: 119, failed: 1 },
      [{ code: 'service.throttled' }],
      [0],
    ]);
  });
});

describe('a service that defers every row', () => {
  it('is waited for until patience ends, and fails no row', async () => {
    const here = await world(grid(40), {
      onSubmit: ({ number }) => (number > 15 ? noAccount : undefined),
    });
    expect(here.run().end).toMatchObject({ kind: 'stopped', code: 'route.patience' });
    const { done = 0, pending = 0, failed = 0 } = here.statuses();
    expect([failed, done > 0, done + pending]).toEqual([0, true, 40]);
  });

  it.each([0.5, 0.8])('for a share of %f of all submissions, makes no row fail', async (share) => {
    const chance = new Chance(7);
    const here = await world(grid(150), {
      onSubmit: ({ number }) => (chance.happens(share, number) ? throttled : undefined),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 150 });
  });

  it('never makes the run exceed its limits', async () => {
    const here = await world(grid(3000), { onSubmit: ({ number }) => (number > 3 ? noAccount : undefined) });
    const { most } = here.run();
    // Task slots, and twice the limits beside them.
    expect(most.jobs).toBeLessThanOrEqual(12 + 12 + 2 * (12 + 32));
    expect(most.taskSlots).toBeLessThanOrEqual(12);
  });
});
