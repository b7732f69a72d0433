import { describe, expect, it } from 'vitest';
import type { Route, RunEnd } from '../../src/run/events.ts';
import { failure } from '../rig/failure.ts';
import { saveFailures } from '../rig/gateway/faults.ts';
import type { Failing } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, type World, world } from '../rig/world.ts';

const byTwo = (cells: number): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps:
  picture: { imagine: "picture {{ n }}" }
  other: { describe: { image: "https://images.example/{{ n }}.png" } }
`;

const models = (cells: number): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps:
  good: { generate: { prompt: "Say {{ n }}", model: text-pro } }
  empty: { chat: { prompt: "Say {{ n }}", model: text-pro } }
`;

const chain = (cells: number): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "picture {{ n }}", path: "U1" }
  pans: { imagine: "wide {{ n }}", path: "U1 → pan left" }
`;

const many = (cells: number): string => `name: test
matrix: { n: { from: 1, to: ${cells} } }
steps: { say: { generate: { prompt: "Say {{ n }}", model: "model-{{ n }}" } } }
`;

const noEdits = failure('service.not-offered', 'permanent', {
  status: 400,
  about: 'not-offered',
  message: '当前账号不支持编辑',
});
const noChannel: Failing = {
  error: failure('service.no-channel', 'retry', {
    status: 503,
    about: 'no-channel',
    message: '当前分组 default 下对于模型 mj_pan 无可用渠道',
  }),
};
const noMoney = failure('service.quota', 'stop', { status: 402, about: 'quota', message: 'top up' });
const rejected = (message: string, status = 403): Failing => ({
  error: failure('service.rejected', 'permanent', { status, message, serviceMessage: message }),
});
const messageOf = (end: RunEnd | undefined): string => (end && 'message' in end ? end.message : '');
const stepStatuses = ({ plan, cells, store }: World, name: string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const cell of cells)
    for (const { step, status } of plan.resolve(cell, (key) => store.get(key)))
      if (step === name) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('one kind that the service does not offer', () => {
  it('is requested once, and everything else is done at full speed', async () => {
    const here = await world(byTwo(40), {
      onSubmit: ({ prompt }) => (prompt === '' ? { error: noEdits } : undefined),
    });
    const { end, endedAt } = here.run();
    const alone = await world(grid(40));
    const { endedAt: aloneAt } = alone.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.not-offered' });
    expect(messageOf(end)).toContain('does not offer describe: ');
    expect(stepStatuses(here, 'picture')).toEqual({ done: 40 });
    // As many as were under way when the first answer came.
    const asked = here.service.submits.filter(({ prompt }) => prompt === '').length;
    expect(asked).toBeLessThan(13);
    expect(stepStatuses(here, 'other')).toEqual({ failed: asked, pending: 40 - asked });
    expect([...here.store.withStatus('failed')].map(({ error }) => error?.code)).toEqual(
      Array.from({ length: asked }, () => 'service.not-offered'),
    );
    expect(messageOf(end)).toContain(`${40 - asked} jobs of describe wait for a later run`);
    expect(endedAt).toBeLessThanOrEqual(aloneAt + 5_000);
  });

  it('fails no row that was never requested: they are done once the account is fixed', async () => {
    let isWrong = true;
    const here = await world(byTwo(40), {
      onSubmit: ({ prompt }) => (isWrong && prompt === '' ? { error: noEdits } : undefined),
    });
    here.run();
    const { failed = 0 } = stepStatuses(here, 'other');
    isWrong = false;
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(stepStatuses(here, 'other')).toEqual({ done: 40 - failed, failed });
    expect(
      here.run({ settings: virtualSettings({ retryFailed: { code: 'service.not-offered' } }) }).end,
    ).toEqual({
      kind: 'complete',
    });
    expect(here.statuses()).toEqual({ done: 80 });
  });

  it('closes for lack of a channel after a minute, fails no job, and everything else is done', async () => {
    const here = await world(chain(30), {
      onSubmit: ({ pressed }) => (pressed.endsWith('⬅️') || pressed.includes('/U1/') ? noChannel : undefined),
    });
    const { end } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.no-channel' });
    expect(messageOf(end)).toMatch(
      /Nobody behind the service can do pan: .* jobs of pan wait for a later run/,
    );
    expect(stepStatuses(here, 'grid')).toEqual({ done: 60 });
    expect(here.statuses().failed).toBeUndefined();
    expect(stepStatuses(here, 'pans')).toEqual({ done: 60, pending: 30 });
    // Asked when it was first wanted, and a minute later.
    expect(here.service.submits.filter(({ pressed }) => pressed.includes('/U1/')).length).toBeLessThan(14);
  });

  it('without money left closes at the second answer, and its rows stay pending', async () => {
    const here = await world(models(60), {
      onAsk: ({ record }) => (record.kind === 'chat' ? noMoney : undefined),
    });
    const { end } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.quota' });
    expect(messageOf(end)).toContain('No money is left for text-pro (chat): top up');
    expect(stepStatuses(here, 'good')).toEqual({ done: 60 });
    expect(stepStatuses(here, 'empty')).toEqual({ pending: 60 });
  });

  it('leaves no job that only waits for its file', async () => {
    let saves = 0;
    const here = await world(grid(60), {
      onSave: () => {
        saves += 1;
        return saves > 3 ? undefined : { ok: false, error: saveFailures.permanent };
      },
      duration: ({ number }) => (number <= 6 ? 5_000 : 30_000),
      onSubmit: ({ number }) => (number < 14 ? undefined : { error: noMoney }),
    });
    const message = messageOf(here.run().end);
    expect(here.statuses()).toEqual({ done: 10, failed: 3, pending: 47 });
    const [jobs = 0, cells = 0] = [...message.matchAll(/(\d+) (?:jobs|cells)/g)].map(([, count]) =>
      Number(count),
    );
    expect(jobs + cells).toBe(47);
  });

  it('does not close for a single answer about missing money, whose row is requested last', async () => {
    let asked = 0;
    const here = await world(models(20), {
      onAsk: ({ record }) => {
        if (record.kind !== 'chat' || !JSON.stringify(record.request).includes('Say 3"')) return undefined;
        asked += 1;
        return asked === 1 ? noMoney : undefined;
      },
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 40 });
    expect(here.service.calls.at(-1)?.record.request).toMatchObject({ fields: { prompt: 'Say 3' } });
  });

  it('leaves a row with two such answers to the next run', async () => {
    const here = await world(models(20), {
      onAsk: ({ record }) => (JSON.stringify(record.request).includes('Say 3"') ? noMoney : undefined),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 38, pending: 2 });
    expect(here.service.calls).toHaveLength(42);
  });
});

describe('a paused kind', () => {
  const busy = failure('service.unavailable', 'retry', { status: 503, message: 'busy' });
  const odd = failure('service.rejected', 'permanent', { status: 400, message: 'odd' });

  it.each([
    ['a busy model', 60, busy],
    ['a model without a channel', 60, noChannel.error],
    ['one that is busy for long', 180, busy],
  ])('continues where its probe is refused for its own content: %s', async (_, forS, outage) => {
    let isOdd = true;
    const here = await world(models(30), {
      onAsk: ({ record, at }) => {
        if (record.kind !== 'chat') return undefined;
        if (at < epoch + forS * 1000) return outage;
        const given = isOdd ? odd : undefined;
        isOdd = false;
        return given;
      },
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 59, failed: 1 });
  });

  it('continues where a click as its probe is refused for its own content', async () => {
    const refused: Failing = { error: odd };
    let isOdd = true;
    const here = await world(chain(30), {
      onSubmit: ({ pressed, at }) => {
        if (!pressed.includes('/U1/')) return undefined;
        if (at < epoch + 240_000) return { error: busy };
        const given = isOdd ? refused : undefined;
        isOdd = false;
        return given;
      },
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses().failed).toBe(1);
    expect(here.statuses().pending).toBeUndefined();
  });
});

it.each([1, 2, 6])(
  'leaves the clicks that wait for it once it closes: %i requests at once',
  async (requests) => {
    const here = await world(grid(3, 'U1..U4'), {
      onSubmit: ({ pressed }) => (pressed === '' ? undefined : noChannel),
    });
    const settings = virtualSettings({ limits: { tasks: 12, requests } });
    expect(here.run({ settings }).end).toMatchObject({ kind: 'stopped', code: 'service.no-channel' });
    expect(here.statuses()).toEqual({ done: 3, pending: 12 });
  },
);

describe('a kind of few rows that pauses while others are served', () => {
  const busy = failure('service.unavailable', 'retry', { status: 503, message: 'busy' });
  const text = many(100);
  const image = `name: test
matrix: { n: { from: 1, to: 1 } }
steps:
  few: { imagine: "picture {{ n }}" }
${Array.from({ length: 99 }, (_, n) => `  say${n}: { generate: { prompt: "Say ${n} {{ n }}", model: text-pro } }`).join('\n')}
`;
  const broken = (of: string, until: number, error = busy) =>
    world(of, {
      onAsk: ({ record, at }) =>
        JSON.stringify(record.request).includes('"model-3"') && at < until ? error : undefined,
      onSubmit: ({ at }) => (at < until ? { error } : undefined),
    });
  const slow = {
    settings: virtualSettings({ limits: { tasks: 12, requests: 4 } }),
    latency: (route: Route) => (route === 'text' || route === 'submit' ? 60_000 : 100),
  };

  it.each([
    ['a text', text],
    ['an image', image],
  ])('costs no row a try where nothing was made: %s', async (_, of) => {
    const here = await broken(of, epoch + 20 * 60_000);
    expect(here.run(slow).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 100 });
  });

  it.each([
    ['a text', text],
    ['an image', image],
  ])('leaves its rows to a later run where it closes: %s', async (_, of) => {
    const here = await broken(of, Number.POSITIVE_INFINITY);
    expect(here.run(slow).end).toMatchObject({ kind: 'stopped', code: 'kind.unserved' });
    expect(here.statuses()).toEqual({ done: 99, pending: 1 });
  });

  it('counts a try that may have made something', async () => {
    const unclear = failure('service.malformed', 'retry', { status: 500, message: 'broken' });
    const here = await broken(text, Number.POSITIVE_INFINITY, unclear);
    here.run(slow);
    expect(here.store.totals().attempts).toBe(here.service.calls.length);
  });
});

describe('more kinds than a run tracks separately', () => {
  const isLast = ({ record }: { readonly record: { readonly request: unknown } }): boolean =>
    /model-1\d{3}"/.test(JSON.stringify(record.request));

  it('have verdicts nevertheless: refused, or not offered', async () => {
    const errors = [
      failure('service.rejected', 'permanent', { status: 400, message: 'odd' }),
      failure('service.not-offered', 'permanent', { status: 404, about: 'not-offered' }),
    ];
    const here = await world(many(1010), {
      onAsk: (call) => (isLast(call) ? errors[here.service.calls.length % 2] : undefined),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 999, failed: 11 });
  });

  it('continue where each is requested once more', async () => {
    const told = new Set<unknown>();
    const here = await world(many(1010), {
      onAsk: (call) => {
        if (!isLast(call) || told.size > 0) return undefined;
        told.add(call.record.key);
        return noMoney;
      },
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 1010 });
  });
});

describe('equal refusals in a row', () => {
  it.each([
    ['with another number each time', (n: number) => `No credit for job ${n}`],
    ['with another quoted word each time', (n: number) => `"picture ${'abc'.at(n % 3)}" is not for you`],
    ['with another id each time', (n: number) => `rejected (trace 5f-${n}a-c)`],
  ])('close their kind after twenty, though others are served: %s', async (_, words) => {
    const here = await world(byTwo(60), {
      onSubmit: ({ prompt, number }) => (prompt === '' ? rejected(words(number)) : undefined),
    });
    const { end } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'route.refused' });
    expect(stepStatuses(here, 'picture')).toEqual({ done: 60 });
    expect(stepStatuses(here, 'other')).toEqual({ pending: 60 });
    expect(here.service.submits.filter(({ prompt }) => prompt === '').length).toBeLessThan(33);
    expect(messageOf(end)).toContain('jobs of describe wait for a later run');
  });

  it('leave their rows to the next run, behind those that were never tried', async () => {
    let wrong = true;
    const here = await world(grid(60), { onSubmit: () => (wrong ? rejected('no credit') : undefined) });
    expect(here.run().end).toMatchObject({ code: 'route.refused' });
    const tried = here.service.submits.map(({ prompt }) => prompt);
    wrong = false;
    expect(here.run().end).toEqual({ kind: 'complete' });
    const next = here.service.submits.slice(tried.length).map(({ prompt }) => prompt);
    expect(here.statuses()).toEqual({ done: 60 });
    expect(next.slice(-tried.length).toSorted()).toEqual(tried.toSorted());
    expect([...here.store.withStatus('done')].some(({ putBack }) => putBack)).toBe(false);
  });

  it('fail a row in a later run only where others of its kind are served there', async () => {
    const bad = ({ prompt }: { prompt: string }): boolean => Number(prompt.slice(8)) <= 20;
    let all = true;
    const here = await world(grid(22), {
      onSubmit: (submit) => (all || bad(submit) ? rejected('no credit') : undefined),
    });
    const settings = virtualSettings({ limits: { tasks: 1, requests: 1 } });
    expect(here.run({ settings }).end).toMatchObject({ code: 'route.refused' });
    expect(here.run({ settings }).end).toMatchObject({ code: 'route.refused' });
    expect(here.statuses()).toEqual({ pending: 22 });
    all = false;
    // Those that were tried less often go first.
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 2, failed: 20 });
  });

  it('repeat once a run a row without a verdict, whatever else happens to its cell', async () => {
    const text = `${byTwo(24)}  third: { blend: { images: ["https://images.example/{{ n }}-a.png", "https://images.example/{{ n }}-b.png"] } }\n`;
    const here = await world(text, { onSubmit: () => rejected('no credit') });
    expect(here.run({ steps: new Set(['other']) }).end).toMatchObject({ code: 'route.refused' });
    const cells = here.cells.slice(0, 2);
    const { submits } = here.run({ cells, steps: new Set(['other', 'third']) });
    expect(submits).toBe(4);
    const rows = cells.flatMap((cell) => here.plan.resolve(cell, (key) => here.store.get(key)));
    expect(rows.filter(({ step }) => step === 'other').map(({ status }) => status)).toEqual([
      'pending',
      'pending',
    ]);
    expect(rows.filter(({ step }) => step === 'third').map(({ status }) => status)).toEqual([
      'failed',
      'failed',
    ]);
  });

  it.each([
    ['too large', () => ({ error: failure('service.too-large', 'permanent', { status: 413 }) })],
    ['refused for its prompt', () => ({ kind: 'refused' as const, code: 24, message: 'banned' })],
    ['refused for a field', () => rejected('"prompt" is too long', 400)],
  ])('fail a row at once that is %s', async (_, answer) => {
    const here = await world(grid(5), {
      onSubmit: ({ prompt }) => (prompt === 'picture 5' ? answer() : undefined),
    });
    here.run({ settings: virtualSettings({ limits: { tasks: 1, requests: 1 } }) });
    expect(here.statuses()).toEqual({ done: 4, failed: 1 });
    expect([...here.store.withStatus('failed')].map(({ putBack }) => putBack)).toEqual([undefined]);
  });

  it('fail a few rows of a small kind, which gives no other answer', async () => {
    const here = await world(grid(3), { onSubmit: () => rejected('not like this') });
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ failed: 3 });
  });
});

describe('cells in which one kind of several is closed', () => {
  const notOffered = failure('service.not-offered', 'permanent', { status: 404, about: 'not-offered' });
  const judged = (models: string, steps: string): string => `name: test
matrix: { m: ${models}, n: { from: 1, to: 60 } }
steps:
  ${steps}
`;
  const isBad = ({ record }: { readonly record: { readonly request: unknown } }): boolean =>
    JSON.stringify(record.request).includes('"bad"');
  /** Rows of a step that are done, in cells of one value of a variable. */
  const done = ({ plan, cells, store }: World, step: string, name: string, value: string): number =>
    cells
      .filter(({ vars }) => vars[name] === value)
      .flatMap((cell) => plan.resolve(cell, (key) => store.get(key)))
      .filter((slot) => slot.step === step && slot.status === 'done').length;

  describe.each(['[bad, good]', '[good, bad]'])('of the models %s', (models) => {
    it.each([
      ['alone', 'say: { chat: { prompt: "Say {{ n }}", model: "{{ m }}" } }'],
      [
        'of an image that it is shown',
        `pic: { imagine: "{{ n }} {{ m }}" }
  say: { from: pic, chat: { prompt: "Say {{ n }}", model: "{{ m }}", images: [parent] } }`,
      ],
      [
        'of a text that it reads',
        `say: { chat: { prompt: "{{ steps.pic.text }}", model: "{{ m }}" } }
  pic: { describe: { image: "https://images.example/{{ n }}-{{ m }}.png" } }`,
      ],
    ])('the others are done, and nothing is paid in vain: a text %s', async (_, steps) => {
      const here = await world(judged(models, steps), {
        onAsk: (call) => (isBad(call) ? notOffered : undefined),
      });
      const { end } = here.run();
      expect(end).toMatchObject({ kind: 'stopped', code: 'service.not-offered' });
      expect(done(here, 'say', 'm', 'good')).toBe(60);
      expect(done(here, 'pic', 'm', 'good')).toBe(steps.includes('pic:') ? 60 : 0);
      expect(done(here, 'pic', 'm', 'bad')).toBeLessThan(40);
      expect(here.service.calls.filter(isBad).length).toBeLessThan(40);
    });
  });

  it.each(['Upscale (Subtle)', 'Upscale*'])('the others are done: a click on %s', async (bad) => {
    const cells = `matrix: { op: ["${bad}", "Vary (Subtle)"], n: { from: 1, to: 40 } }`;
    const isWild = bad.endsWith('*');
    const here = await world(
      `name: test
${isWild ? cells.replace(', "Vary (Subtle)"', '') : cells}
steps:
  grid: { imagine: "picture {{ n }} {{ op }}", path: "U1 → ${isWild ? bad : "'{{ op }}'"}" }
`,
      { onSubmit: ({ pressed }) => (pressed.includes('Upscale') ? { error: notOffered } : undefined) },
    );
    expect(here.run().end).toMatchObject({ kind: 'stopped', code: 'service.not-offered' });
    expect(done(here, 'grid', 'op', bad)).toBeLessThan(2 * 24);
    expect(done(here, 'grid', 'op', 'Vary (Subtle)')).toBe(isWild ? 0 : 120);
  });
});

describe('a shorten job', () => {
  const shorter = `name: test
matrix: { n: { from: 1, to: 3 } }
steps:
  picture: { imagine: "picture {{ n }}" }
  less: { shorten: "a long prompt {{ n }}" }
  drawn: { imagine: "{{ steps.less.prompts[1] }} {{ n }}" }
`;

  it('is requested with its prompt, and later steps draw the prompts it found', async () => {
    const here = await world(shorter);
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.service.submits.map(({ prompt }) => prompt).toSorted()).toEqual(
      ['a hare', 'a long prompt', 'picture'].flatMap((prompt) => [1, 2, 3].map((n) => `${prompt} ${n}`)),
    );
  });

  it('without a path on the gateway is requested once, and everything else is done', async () => {
    const missing = failure('service.not-offered', 'permanent', { status: 404, about: 'not-offered' });
    const here = await world(shorter, {
      onSubmit: ({ prompt }) => (prompt.startsWith('a long') ? { error: missing } : undefined),
    });
    const { end } = here.run();
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.not-offered' });
    expect(messageOf(end)).toContain('does not offer shorten: ');
    expect(stepStatuses(here, 'picture')).toEqual({ done: 3 });
    expect(here.service.submits.some(({ prompt }) => prompt.startsWith('a hare'))).toBe(false);
  });
});

describe('a redo whose kind is closed', () => {
  it('does not begin: the result is as outdated as before, and the run ends', async () => {
    let isWrong = false;
    const here = await world(grid(40, 'U1'), {
      onSubmit: ({ pressed }) => (isWrong && pressed !== '' ? rejected('not for you') : undefined),
    });
    expect(here.run().end).toEqual({ kind: 'complete' });
    isWrong = true;
    const redo = [...here.store.withStatus('done')].flatMap(({ key, kind }) =>
      kind === 'imagine' ? [key] : [],
    );
    const before = here.service.submits.length;
    expect(here.run({ redo: { keys: redo, again: true } }).end).toMatchObject({ code: 'route.refused' });
    const pressed = here.service.submits.slice(before).filter((submit) => submit.pressed !== '').length;
    // Each refused click is read and pressed once more.
    expect(pressed).toBeLessThan(2 * 20 + 12);
    expect(here.statuses().failed).toBeUndefined();
    isWrong = false;
    expect(here.run().end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 80 });
    expect(here.service.submits.length).toBeGreaterThan(before + 40 + pressed + 15);
  });
});

describe('a kind that was served to others', () => {
  it('is not closed where the service tells this worker that it is not offered, and the others are informed', async () => {
    const here = await world(byTwo(10), {
      onSubmit: ({ prompt }) => (prompt === '' ? { error: noEdits } : undefined),
    });
    const kinds = new Set(['submit/describe']);
    const { end } = here.run({ shared: { kinds } });
    expect(end).toEqual({ kind: 'complete' });
    expect(stepStatuses(here, 'other')).toEqual({ failed: 10 });
    expect([...kinds]).toEqual(['submit/describe', 'submit/imagine']);
  });
});

describe('a kind that another worker has closed', () => {
  const closed = {
    route: 'submit',
    name: 'pan',
    code: 'service.no-channel',
    message: 'Nobody behind the service can do pan: busy',
    names: ['pans/U1/pan left [{"kind":"word","word":"pan left"}]'],
  } as const;
  const closings = { closed: [closed], report: () => undefined };

  it('is requested by no worker, and no cell that only leads to it begins', async () => {
    const here = await world(chain(30).replace(/  grid:.*\n/, ''));
    const { end } = here.run({ shared: { closings } });
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.no-channel' });
    expect(messageOf(end)).toBe(
      'Nobody behind the service can do pan: busy. 30 cells that need it were not begun.',
    );
    expect(here.service.submits).toHaveLength(0);
  });

  it.each(['service.no-channel', 'service.not-offered'] as const)(
    'continues where it was closed for lack of a service and had been served: %s',
    async (code) => {
      const here = await world(chain(30));
      const pans = () => here.service.submits.filter(({ pressed }) => pressed.includes('/U1/')).length;
      const shared = {
        closings: {
          get closed() {
            return pans() > 12 ? [{ ...closed, code }] : [];
          },
          report: () => undefined,
        },
      };
      expect(here.run({ shared }).end).toEqual({ kind: 'complete' });
      expect(pans()).toBe(30);
    },
  );

  it('leaves the other models of a step open', async () => {
    const say = (model: string) => `name: test
matrix: { n: { from: 1, to: 60 }, m: ${model} }
steps: { say: { chat: { prompt: "Say {{ n }}", model: "{{ m }}" } } }
`;
    const bad = { ...closed, route: 'text', name: 'bad (chat)', names: ['say'] } as const;
    const here = await world(say('[bad, good]'));
    const { end } = here.run({ shared: { closings: { ...closings, closed: [bad] } } });
    expect(messageOf(end)).toContain('60 cells that need it were not begun');
    expect(here.statuses()).toEqual({ done: 60, pending: 60 });
  });

  it('is requested no more where that is known later: paid results are still saved', async () => {
    const here = await world(chain(30));
    const heard: (typeof closed)[] = [];
    const shared = {
      closings: {
        get closed() {
          return heard;
        },
        report: () => undefined,
      },
    };
    const pans = () => here.service.submits.filter(({ pressed }) => pressed.includes('/U1/')).length;
    let asked = 0;
    const { end } = here.run({
      shared,
      onResult: () => {
        if (asked > 0 || pans() === 0) return;
        asked = pans();
        heard.push(closed);
      },
    });
    expect(end).toMatchObject({ kind: 'stopped', code: 'service.no-channel' });
    expect(pans() - asked).toBeLessThanOrEqual(12);
    expect(pans()).toBeLessThan(30);
    expect(here.statuses().running).toBeUndefined();
    expect(here.statuses().failed).toBeUndefined();
  });
});
