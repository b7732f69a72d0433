import { closingAfter } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { exitCodes, usageError } from '../errors/cli-error.ts';
import { without } from '../errors/correction.ts';
import type { SetFlag } from '../flags.ts';
import { estimateWith, type PlanFlags, printCells, printPlan } from '../run/dry-run.ts';
import { plannedReuse } from '../run/reuse.ts';
import { planOfDirectory } from '../workspace/last-plan.ts';
import { openTarget } from '../workspace/open.ts';
import { checkChosen, checkSelection, selectionOf } from '../workspace/selection.ts';

/** Flags that do not apply to the plan of a run on an engine. */
const ofFiles = [
  'out',
  'run-directory',
  'trust-directory',
  'sandbox',
  'base-url',
  'new-service',
  'files-root',
  'set',
  'engine',
] as const;

/**
 * Shows the plan of a run on an engine (`promptpress plan postgres://…#name`), for the pipeline of its last run.
 *
 * @throws CliError (exit 2), EngineError
 */
export const showEnginePlan = (
  target: string,
  flags: PlanFlags & SetFlag & { readonly cells: boolean },
  context: Context,
): Promise<number> =>
  closingAfter(async (disposables) => {
    const { cwd } = context.io;
    const { reuse, ...ofRun } = flags;
    // The directories of --reuse may have to be trusted.
    const given = reuse.length === 0 ? ofRun : { ...ofRun, 'trust-directory': false };
    const other = ofFiles.find((name) => isGiven(given[name]));
    if (other !== undefined)
      throw usageError(
        `--${other} goes together with a pipeline file, and a run on an engine is planned as it ran last.`,
        `To plan a pipeline file as it would run there: promptpress plan FILE --engine postgres://…#NAME`,
        without(`--${other}`),
      );
    const { directory, place, state } = await openTarget(target, flags, context);
    disposables.add(() => state.close());
    const { plan, facts } = await planOfDirectory(directory, state, context);
    const selection = selectionOf(flags);
    await checkSelection(plan, selection);
    if (flags.cells) return await printCells(plan, flags, context);
    const running = (await place.owner()) !== undefined;
    const reused = await plannedReuse(flags, { directory, state }, disposables, context);
    const report = await estimateWith(plan, flags, { state, running, reuse: reused }, cwd);
    checkChosen(plan, report.cells.chosen);
    await printPlan(report, facts.origin, flags, context);
    return exitCodes.ok;
  });

const isGiven = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
