import { describe, expect, it } from 'vitest';
import type { EndCode } from '../../../src/pipeline/diagnostics/run-codes.ts';
import type { LeftWork } from '../../../src/run/ports.ts';
import { closeAsOthers, closedEnd, leftByAll, leftWork } from '../../../src/run/scheduler/closed-kinds.ts';
import type { SchedulerState } from '../../../src/run/scheduler/state/state.ts';
import { grid } from '../../rig/world.ts';
import { schedulerRig } from './scheduler-rig.ts';

const closing = { code: 'route.refused', message: 'The service refused all.' } as const;

describe('the end of a run in which kinds were closed', () => {
  const kind = { route: 'submit', name: 'pan', ...closing, left: 0, names: [] } as const;
  const messageOf = (changes: Partial<LeftWork>): string => {
    const end = closedEnd({ closed: [kind], cells: 0, openSteps: [], ...changes });
    return 'message' in end ? end.message : '';
  };

  it.each<[Partial<LeftWork>, string]>([
    [{}, ''],
    [{ closed: [{ ...kind, left: 1 }] }, ' 1 job of pan waits for a later run.'],
    [{ closed: [{ ...kind, left: 2 }] }, ' 2 jobs of pan wait for a later run.'],
    [{ closed: [{ ...kind, left: 100_000 }] }, ' 100000 jobs or more of pan wait for a later run.'],
    [{ cells: 1 }, ' 1 cell that needs it was not begun.'],
    [{ cells: 1, openSteps: ['a'] }, ' 1 cell that needs it was not begun. --only a goes on without it.'],
    [{ openSteps: ['a'] }, ''],
    [{ closed: [kind, { ...kind, message: 'Not 全部。' }] }, ' Not 全部。'],
    [{ closed: [kind, { ...kind, message: 'No money' }] }, ' No money.'],
  ])('says what is left: %j', (changes, said) => {
    expect(messageOf(changes)).toBe(`The service refused all.${said}`);
  });

  it('is said once for all workers, with each step that goes on without it', () => {
    const end = closedEnd(
      leftByAll([
        { closed: [{ ...kind, left: 1 }], cells: 1, openSteps: ['a'] },
        { closed: [{ ...kind, left: 2, isOpen: true }], cells: 2, openSteps: ['b', 'a'] },
      ]),
    );
    expect(end).toEqual({
      kind: 'stopped',
      code: 'route.refused',
      message:
        'The service refused all. 3 jobs of pan wait for a later run. 3 cells that need it were not begun. --only a --only b goes on without it.',
    });
  });

  it('has the reason of a worker that closed the kind, before that of one that left its jobs', () => {
    const open = { ...kind, code: 'kind.unserved', isOpen: true } as const;
    const code = (...all: readonly LeftWork['closed'][number][]) => {
      const end = closedEnd(leftByAll(all.map((one) => ({ closed: [one], cells: 0, openSteps: [] }))));
      return 'code' in end ? end.code : end.kind;
    };
    expect([code(open, kind), code(kind, open), code(open)]).toEqual([kind.code, kind.code, 'kind.unserved']);
  });

  it('tells other workers of the kinds that were closed or left, with their names and counts', async () => {
    const { state } = await schedulerRig(grid(1));
    const pan = state.kinds.find('submit', 'pan');
    for (let n = 0; n < 120; n += 1) state.kinds.isAskedFor(pan, `name ${n}`);
    pan.closed = closing;
    pan.leave('k');
    state.kinds.find('text', 'left').leftFor = closing;
    state.kinds.polls.closed = closing;
    state.kinds.find('submit', 'open').leave('other');
    state.cells.left = 3;
    const { closed, cells } = leftWork(state);
    expect(
      closed.map(({ route, name, left, isOpen, names }) => [route, name, left, isOpen, names.length]),
    ).toEqual([
      ['submit', 'pan', 1, undefined, 100],
      ['text', 'left', 0, true, 0],
    ]);
    expect(cells).toBe(3);
  });
});

describe('a kind that others have closed', () => {
  const told = { route: 'submit', name: 'blend', names: ['step'], message: 'no' } as const;

  /** Whether it is closed here, and whether its step is known to ask for it. */
  async function closedHere(
    code: EndCode,
    before: (state: SchedulerState) => void = () => undefined,
    served?: ReadonlySet<string>,
  ) {
    const closings = { closed: [{ ...told, code }], report: () => undefined };
    const shared = { closings, ...(served && { kinds: new Set(served) }) };
    const { state } = await schedulerRig(grid(1), {}, undefined, { shared });
    before(state);
    closeAsOthers(state);
    const kind = state.kinds.find('submit', 'blend');
    return [kind.closed?.code, state.kinds.namesOf(kind)];
  }

  it.each(['route.refused', 'service.no-channel', 'service.not-offered'] as const)(
    'is closed here too: %s',
    async (code) => {
      expect(await closedHere(code)).toEqual([code, ['step']]);
    },
  );

  it.each<[string, ((state: SchedulerState) => void) | undefined, ReadonlySet<string> | undefined]>([
    [
      'in this run',
      ({ kinds }) => {
        kinds.find('submit', 'blend').tally = { served: 1, firsts: 1, firstsServed: 1 };
      },
      undefined,
    ],
    [
      'before',
      ({ kinds }) => {
        kinds.find('submit', 'blend').wasServed = true;
      },
      undefined,
    ],
    ['to others', undefined, new Set(['submit/blend'])],
  ])('stays open where it was served %s, unless it is refused', async (_, before, served) => {
    expect(await closedHere('service.no-channel', before, served)).toEqual([undefined, []]);
    expect(await closedHere('service.not-offered', before, served)).toEqual([undefined, []]);
    expect(await closedHere('route.refused', before, served)).toEqual(['route.refused', ['step']]);
  });

  it('keeps its own reason where it is closed already', async () => {
    const [code, names] = await closedHere('route.refused', ({ kinds }) => {
      kinds.find('submit', 'blend').closed = { code: 'service.quota', message: 'm' };
    });
    expect([code, names]).toEqual(['service.quota', []]);
  });
});
