import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cell, Selection } from '../../../src/plan/cell.ts';
import type { PlanCounts } from '../../../src/plan/estimate/report.ts';
import { chosenSteps } from '../../../src/plan/graph/step-selection.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { planOf } from '../../rig/pipeline-builder.ts';
import { cut, Dice, files, randomPipeline, reply } from '../resolve/random-pipeline.ts';
import { button } from '../simulated-state.ts';
import { Directory, estimate } from './estimate-rig.ts';

/** A job ends, well or badly; what it makes is saved. */
function settle(state: Directory, slot: Slot, dice: Dice): void {
  const kept = { ...slot, id: slot.id, keep: true };
  if (dice.below(8) === 0) state.fail(slot, dice.one(['task.failed', 'button.missing']));
  else if (slot.kind === 'generate') reply(state, kept, dice);
  else if (slot.kind === 'describe') state.described(kept, dice.one([['a hat', 'a fox'], []]));
  else if (slot.kind === 'video') state.filmed(kept, ['1', '2']);
  else {
    const buttons = ['U1', 'U2', 'U3', 'V1', 'V2']
      .filter(() => dice.below(4) > 0)
      .map((label) => button(label));
    state.done(kept, buttons, { pressed: button('U1'), ...cut(kept, dice) });
  }
}

const selections: readonly Selection[] = [
  {},
  {},
  { limit: 3 },
  { filters: [{ axis: 'a', value: '2' }] },
  { shard: { index: 1, of: 2 } },
  { only: ['g'] },
];

/** The slots that will have no result. */
const ruledOut = ({ skipped, blocked, invalid, failed }: PlanCounts): number =>
  skipped + blocked + invalid + failed;

/** A count of a plan, and how many jobs were made before. */
interface Count {
  readonly total: PlanCounts;
  readonly made: number;
}

/** Runs the chosen part of a plan, job by job in any order. @returns those counts on the way that differ from what came */
async function runChosen(
  plan: Plan,
  selection: Selection,
  state: Directory,
  dice: Dice,
): Promise<readonly Count[]> {
  const cells: Cell[] = [];
  for await (const cell of plan.matrix.cells(selection)) cells.push(cell);
  const steps = chosenSteps(plan, selection.only);
  if (!steps.ok) throw new Error(steps.error.message);
  // A wildcard may find any number of buttons.
  const hasBound = !plan.slotGraph.templates.some(({ open }) => open);
  const counted: Count[] = [];
  let made = 0;
  for (let turn = 0; ; turn++) {
    const slots = cells.flatMap((cell) =>
      plan.resolve(cell, state.lookup).filter((slot) => steps.value.includes(slot)),
    );
    const ready = slots.filter((slot) => slot.ready);
    if (turn % 4 === 0 || ready.length === 0)
      counted.push({ total: (await estimate(plan, selection, state)).total, made });
    if (ready.length > 0) {
      settle(state, dice.one(ready), dice);
      made += 1;
      continue;
    }
    const end = (counted.at(-1) as Count).total;
    return counted.filter(({ total, made: before }) => {
      const { submits, waiting } = total;
      const isTooFew = total.slots < slots.length || submits + waiting < made - before;
      const isExact = waiting === 0 && ruledOut(total) === ruledOut(end);
      return (hasBound && isTooFew) || (isExact && submits !== made - before) || end.submits > 0;
    });
  }
}

/** Another matrix or another prompt, as somebody edits a file between two runs. */
const edits: readonly ((text: string) => string)[] = [
  (text) => text.replace('"a":[1,2]', '"a":[1,3]'),
  (text) => text.replace('"a":[1,2]', '"a":[2,1,3]'),
  (text) => text.replace('"oil"', '"ink"'),
  (text) => text.replaceAll('a fox', 'an owl'),
  (text) => text.replaceAll(',"failed":"ignore"', ''),
  (text) => text,
];

test('a plan counts never less than what comes, and exactly where all is known, before, in and after runs of edited files', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), async (shape, luck) => {
      const dice = new Dice(luck);
      const state = new Directory();
      let text = randomPipeline(shape, {
        texts: true,
        entries: true,
        outputs: true,
        lists: true,
        over: true,
      });
      for (let run = 0; run < 3; run++) {
        const plan = await planOf(text, undefined, files);
        expect(await runChosen(plan, dice.one(selections), state, dice)).toEqual([]);
        text = dice.one(edits)(text);
      }
    }),
    { seed: 20_263, numRuns: 10, endOnFailure: true },
  );
});
