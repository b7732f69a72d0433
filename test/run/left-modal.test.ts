import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import { failure } from '../rig/failure.ts';
import type { GatewayScript } from '../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { type World, world } from '../rig/world.ts';

const zoom = (prompt: string): string => `name: test
steps:
  grid:
    imagine: a fox
    path: U1
  wide:
    from: grid/U1
    click: Custom Zoom
    prompt: "${prompt}"
`;
const other = `name: test
steps: { other: { imagine: something else } }
`;
const asked = 'a fox --zoom 2';

/** A world whose first run died when such a job, and no other, was under way. */
async function diesWith(script: GatewayScript, wanted: (left: JobRecord) => boolean): Promise<World> {
  for (let turns = 1; turns < 200; turns++) {
    const here = await world(zoom(asked), script);
    here.run({ dieAfterTurns: turns });
    const [left, ...others] = here.store.unfinished();
    if (left !== undefined && others.length === 0 && wanted(left)) return here;
  }
  throw new Error('no such moment');
}

const answers = ({ service }: World): unknown[] =>
  service.modals.map(({ record: { request } }) => request.kind === 'click' && request.fields['prompt']);
const opened = ({ status, modal }: JobRecord): boolean => status === 'modal' && modal?.sent === 0;
const clicked = ({ status, pressed }: JobRecord): boolean =>
  status === 'running' && pressed?.label === 'Custom Zoom';

/** Ways to leave a modal that is to be answered. */
const ways: readonly (readonly [string, GatewayScript, (left: JobRecord) => boolean])[] = [
  ['open', {}, opened],
  ['to be seen at the next look', { modalCode: 1 }, clicked],
  [
    'to be answered again, on the user\u2019s word',
    { onModal: ({ number }) => (number === 1 ? { error: failure('connection.lost', 'lost') } : undefined) },
    ({ status, modal, error }) => status === 'submitting' && modal !== undefined && error !== undefined,
  ],
];

describe.each(ways)('a modal that a run left %s', (name, script, wanted) => {
  const settings = virtualSettings({ inDoubt: name.includes('word') ? 'retry' : 'hold' });
  const before = name.includes('word') ? [asked] : [];

  it('is confirmed by the next run, and its button is not pressed again', async () => {
    const here = await diesWith(script, wanted);
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect([answers(here), here.service.submits.length, here.statuses()]).toEqual([
      [...before, asked],
      3,
      { done: 3 },
    ]);
  });

  it('is not confirmed once its prompt is edited: only a new modal is', async () => {
    const left = await diesWith(script, wanted);
    const edited = await left.edited(zoom('a fox --zoom 1.5'));
    expect(edited.run({ settings }).end).toEqual({ kind: 'complete' });
    expect([answers(edited), edited.statuses()]).toEqual([[...before, 'a fox --zoom 1.5'], { done: 3 }]);
  });

  it('is confirmed only while its cell is planned, whatever the budget', async () => {
    const left = await diesWith(script, wanted);
    const elsewhere = await left.edited(other);
    const beside = virtualSettings({ inDoubt: settings.inDoubt, budget: { submits: 0 } });
    elsewhere.run({ settings: beside });
    elsewhere.run({ settings });
    expect([answers(elsewhere), elsewhere.statuses()]).toEqual([before, { done: 1 }]);
    expect(elsewhere.store.unfinished().map(({ status }) => status)).toEqual(['modal']);

    const back = await elsewhere.edited(zoom(asked));
    expect(back.run({ settings }).end).toEqual({ kind: 'complete' });
    expect([answers(back), back.service.submits.length, back.statuses()]).toEqual([
      [...before, asked],
      4,
      { done: 3 },
    ]);
  });
});
