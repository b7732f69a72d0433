import { expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/run/events.ts';
import { failure } from '../../../rig/failure.ts';
import { virtualSettings } from '../../../rig/virtual-run.ts';
import { grid, world } from '../../../rig/world.ts';

const slots = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'slot:status' ? [`${event.cell} ${event.step}/${event.branch} ${event.status}`] : [],
  );

it('reports once each slot that a failed job blocks, and none that was blocked before the run', async () => {
  const place = await world(grid(2, 'U1..U2 → Vary (Strong)'), {
    fails: ({ prompt, pressed }) =>
      (prompt.endsWith('1') && pressed === '') || (prompt.endsWith('2') && pressed.endsWith('U2'))
        ? 'banned prompt'
        : undefined,
  });
  const blocked = [
    '1 grid/U1 blocked',
    '1 grid/U1/Vary (Strong) blocked',
    '1 grid/U2 blocked',
    '1 grid/U2/Vary (Strong) blocked',
    '2 grid/U2/Vary (Strong) blocked',
  ];
  expect(slots(place.run().events).toSorted()).toEqual(blocked);
  expect(slots(place.run().events)).toEqual([]);
  // Tried again, they fail again, and block what was free meanwhile.
  const settings = virtualSettings({ retryFailed: {} });
  expect(slots(place.run({ settings }).events).toSorted()).toEqual(blocked);
});

it('reports only slots of the steps that run', async () => {
  const text = `name: t
steps:
  grid: { imagine: a fox, path: U1 }
  other: { from: grid, click: U2 }
`;
  const place = await world(text, { fails: () => 'banned prompt' });
  expect(slots(place.run({ steps: new Set(['grid']) }).events)).toEqual(['1 grid/U1 blocked']);
});

it('says why a slot is blocked', async () => {
  const place = await world(grid(1, 'U1'), { fails: () => 'banned prompt' });
  const event = place.run().events.find(({ type }) => type === 'slot:status');
  expect(event).toMatchObject({ error: { code: 'ancestor.failed' } });
});

it('reports what is blocked in a cell that shares a job which failed for another cell', async () => {
  const shared = `name: t
matrix: { n: [1, 2, 3] }
steps: { grid: { imagine: a fox, path: U1 }, own: { imagine: "a fox {{ n }}" } }
`;
  const place = await world(shared, {
    fails: ({ prompt }) => (prompt === 'a fox' ? 'banned prompt' : undefined),
  });
  const settings = virtualSettings({ limits: { tasks: 1, requests: 8 } });
  expect(slots(place.run({ settings }).events).toSorted()).toEqual([
    '1 grid/U1 blocked',
    '2 grid/U1 blocked',
    '3 grid/U1 blocked',
  ]);
});

it('reports slots left below a job in doubt when their cell closes', async () => {
  const place = await world(grid(1, 'U1'), {
    onSubmit: () => ({ error: failure('connection.lost', 'lost') }),
  });
  expect(slots(place.run().events)).toEqual(['1 grid/U1 pending']);
  expect(slots(place.run().events)).toEqual([]);
});

it('reports slots that a condition on a result skips', async () => {
  const text = `name: t
steps:
  grid: { imagine: a fox }
  say: { from: grid, generate: { model: m, prompt: a word } }
  more: { from: grid, when: "steps.say.text == 'never said'", click: U1 }
`;
  const place = await world(text);
  expect(slots(place.run().events)).toEqual(['1 more/U1 skipped']);
});
