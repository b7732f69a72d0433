import { describe, expect, it } from 'vitest';
import type { ArtifactWriter } from '../../src/artifacts/writer.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { readSeed } from '../../src/service/image/seed.ts';
import type { Task } from '../../src/service/image-service.ts';
import { cutNowhere, framesOf } from '../rig/frames.ts';
import { saveFailures } from '../rig/gateway/faults.ts';
import { facts, replyOf } from '../rig/gateway/reply.ts';
import { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { world } from '../rig/world.ts';
import { run } from './engine-rig.ts';

const text = `name: t
matrix: { n: { from: 1, to: 3 } }
steps:
  grid: { imagine: "picture {{ n }}", grid: split, path: U1 }
`;
/** A second run in these tests has another service, which knows no task of the first. */
const single = text.replace(', path: U1', '').replace('to: 3', 'to: 1');
const whole = text.replace(' grid: split,', '');
const full = { code: 'disk.full', class: 'stop', message: 'full' } as const;

/** What a writer was asked to cut, and cuts. */
function counted(cut: ArtifactWriter['cut'] = cutNowhere) {
  const keys: string[] = [];
  const artifacts: Pick<ArtifactWriter, 'cut'> = {
    cut: (request, signal) => {
      keys.push(request.key);
      return cut(request, signal);
    },
  };
  return { keys, artifacts };
}
const requests = (events: readonly RunEvent[], route: string): number =>
  events.filter((event) => event.type === 'request:end' && event.route === route).length;

describe('a run whose grids are cut', () => {
  it('cuts each grid once, after its file is durable, and reports it', async () => {
    const store = memoryStore();
    const { keys, artifacts } = counted((request, signal) => {
      const record = store.get(request.key);
      expect(record).toMatchObject({ status: 'saving', artifacts: [request.grid] });
      expect(record).not.toHaveProperty('frames');
      return cutNowhere(request, signal);
    });
    const { end, events } = await run({ text, store, artifacts });
    expect(end).toEqual({ kind: 'complete' });
    expect(keys).toHaveLength(3);
    const records = [...store.withStatus('done')];
    expect(records).toHaveLength(6);
    for (const { origin, frames } of records)
      expect(frames?.files.length).toBe(origin.branch === '' ? 4 : undefined);
    const cuts = events.filter(({ type }) => type === 'grid:cut');
    expect(cuts).toMatchObject(keys.map((key) => ({ key, frames: 4 })));
    // A cut is no request of any route.
    expect(requests(events, 'download')).toBe(6);
  });

  it.each([
    ['a: { imagine: fox }', 'b: { imagine: fox, grid: split }'],
    ['a: { imagine: fox, grid: split }', 'b: { imagine: fox }'],
  ])(
    'cuts the grid of a job that two slots share, where one requests the cut: %s, %s',
    async (one, other) => {
      const store = memoryStore();
      const { keys, artifacts } = counted();
      const { end } = await run({ text: `name: t\nsteps:\n  ${one}\n  ${other}\n`, store, artifacts });
      expect([end.kind, keys.length]).toEqual(['complete', 1]);
      expect([...store.withStatus('done')].map(({ frames }) => frames?.files.length)).toEqual([4]);
    },
  );

  it('reports what is wrong with a file that was saved as it came', async () => {
    const save: ArtifactWriter['save'] = ({ key, output }) => {
      const [file] = framesOf(key, { width: 8, height: 8 });
      if (file === undefined) throw new Error('There is no file.');
      return Promise.resolve({ ok: true, value: { ...file, output }, warning: 'grey' });
    };
    const { end, events } = await run({ text: single, artifacts: { save } });
    expect(end).toEqual({ kind: 'complete' });
    expect(events).toContainEqual({ type: 'run:notice', code: 'download.half', message: 'grey.' });
  });

  it('takes no place among the requests in flight', async () => {
    const { keys, artifacts } = counted();
    const { end, events } = await run({ text, artifacts, settings: { limits: { tasks: 1, requests: 1 } } });
    expect([end.kind, keys.length, requests(events, 'download')]).toEqual(['complete', 3, 6]);
  });

  it('ends where the disk takes no frames; the next run cuts, and neither submits nor downloads', async () => {
    const store = memoryStore();
    const first = await run({
      text: single,
      store,
      artifacts: { cut: () => Promise.resolve({ ok: false, error: full }) },
    });
    expect(first.end).toEqual({ kind: 'disk', code: 'disk.full', message: 'full' });
    const [left] = [...store.withStatus('saving')];
    expect(left?.artifacts).toHaveLength(1);
    const made = first.submits;
    const { keys, artifacts } = counted();
    const { end, submits, events } = await run({ text: single, store, artifacts });
    expect(end).toEqual({ kind: 'complete' });
    expect(keys).toEqual([left?.key]);
    expect([made, submits]).toEqual([1, 0]);
    expect(requests(events, 'download')).toBe(0);
  });

  it('leaves a grid that cannot be cut whole and done, continues, and does not try again', async () => {
    const store = memoryStore();
    const broken = { code: 'frames.unreadable', class: 'permanent', message: 'damaged' } as const;
    const { keys, artifacts } = counted(() => Promise.resolve({ ok: false, error: broken }));
    const { end, events } = await run({ text, store, artifacts });
    expect(end).toEqual({ kind: 'complete' });
    expect([...store.withStatus('done')]).toHaveLength(6);
    expect(events.filter((event) => event.type === 'run:notice' && event.code !== 'run.slept')).toMatchObject(
      [{ code: 'frames.unreadable', message: expect.stringContaining('damaged') }],
    );
    await run({ text, store, artifacts });
    expect(keys).toHaveLength(3);
  });

  it.each([
    ['comes the second time', 'retry', 1, []],
    ['has only a refused link', 'fresh-link', 99, ['download.refused']],
    ['is no image', 'permanent', 1, ['download.not-image']],
  ] as const)('downloads the frames of the service; one that %s', async (_, fault, bad, codes) => {
    const store = memoryStore();
    const frameUrls = [1, 2, 3, 4].map((n) => `https://i/${n}`);
    const framed = (task: Task): Task => (task.state === 'success' ? { ...task, frameUrls } : task);
    const { keys, artifacts } = counted();
    const gateway = new ScriptedGateway();
    let tries = 0;
    const { end, events } = await run({
      text: single,
      store,
      service: (port) => ({
        fetchTask: async (...asked) => {
          const answer = await port.fetchTask(...asked);
          return answer.ok ? { ok: true, value: framed(answer.value) } : answer;
        },
        fetchTasks: async (...asked) => {
          const answer = await port.fetchTasks(...asked);
          return answer.ok ? { ok: true, value: answer.value.map(framed) } : answer;
        },
      }),
      artifacts: {
        ...artifacts,
        save: ({ key, output }) => {
          if (output === 3) tries += 1;
          return Promise.resolve(
            output === 3 && tries <= bad
              ? { ok: false, error: saveFailures[fault] }
              : gateway.save(key, output).result,
          );
        },
      },
    });
    expect(end).toEqual({ kind: 'complete' });
    const [grid] = [...store.withStatus('done')];
    expect([grid?.frames?.files.length, grid?.frames?.error?.code]).toEqual([4, codes[0]]);
    expect(keys).toHaveLength(codes.length);
    const told = events.filter((event) => event.type === 'run:notice' && event.code !== 'run.slept');
    expect(told.map((event) => 'code' in event && event.code)).toEqual(codes);
  });

  it('cuts the grids of a finished run without a request, once, whatever cells they are in', async () => {
    const store = memoryStore();
    await run({ text: whole, store });
    const { keys, artifacts } = counted();
    const second = await run({ text, store, artifacts });
    expect([second.submits, keys.length, requests(second.events, 'download')]).toEqual([0, 3, 0]);
    await run({ text, store, artifacts });
    expect(keys).toHaveLength(3);
  });

  it('keeps a grid unchanged when it is left during a cut', async () => {
    const store = memoryStore();
    const leave = new AbortController();
    const artifacts: Pick<ArtifactWriter, 'cut'> = {
      cut: (_request, signal) => {
        leave.abort();
        return new Promise((resolve) => {
          const error = { code: 'download.aborted', class: 'retry', message: 'over' } as const;
          const stop = (): void => resolve({ ok: false, error });
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
        });
      },
    };
    const first = await run({ text: single, store, artifacts, control: { leave: leave.signal } });
    expect(first.end).toEqual({ kind: 'interrupted', forced: true });
    expect([...store.withStatus('saving')].map(({ artifacts: files }) => files.length)).toContain(1);
    const { keys, artifacts: again } = counted();
    expect((await run({ text: single, store, artifacts: again })).end).toEqual({ kind: 'complete' });
    expect(keys).toHaveLength(1);
  });
});

describe('a gateway that answers every read of a seed with', () => {
  it.each([
    [429, {}],
    [429, { 'retry-after': '60' }],
    [503, {}],
    [500, {}],
    [401, {}],
  ])('%i %j lets the run complete, with one notice', async (status, headers) => {
    const {
      run: runOn,
      service,
      store,
      statuses,
    } = await world(`name: t
matrix: { n: { from: 1, to: 6 } }
steps:
  grid: { imagine: "picture {{ n }}", seed: true }
  look: { from: grid, describe: { image: parent } }
`);
    const answer = replyOf(status, { error: { message: 'no seeds today' } }, headers);
    service.seed = () => ({ result: readSeed(answer, facts(true)), afterMs: 100 });
    const notices: RunEvent[] = [];
    const { end } = runOn({
      onEvent: (event) => {
        if (event.type === 'run:notice') notices.push(event);
      },
    });
    expect([end, statuses()]).toEqual([{ kind: 'complete' }, { done: 12 }]);
    const grids = [...store.withStatus('done')].filter(({ kind }) => kind === 'imagine');
    expect(grids.map(({ result }) => result?.seed)).toEqual(Array.from({ length: 6 }, () => ''));
    expect(notices).toMatchObject([{ code: 'seed.unread' }]);
  });
});
