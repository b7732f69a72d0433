import { expect, it } from 'vitest';
import { progressStart } from '../../../src/app/run/progress-start.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { world } from '../../rig/world.ts';

const ideas = `name: ideas
matrix: { n: { from: 1, to: 9 } }
steps:
  idea: { chat: { model: text-pro, prompt: an idea } }
  image: { imagine: "{{ n }}: {{ steps.idea.text }}" }
`;

it('counts each slot that waits for a shared job as a job of its own', async () => {
  const { plan, store } = await world(ideas);
  const { planned } = await progressStart({ plan, selection: {}, state: store }, virtualSettings());
  expect(planned).toMatchObject({ total: 18, atMost: true, settled: 0, slotsPerJob: 1.8 });
});
