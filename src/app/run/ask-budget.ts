import { money } from '../../report/text/amounts.ts';
import { closingAfter } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import type { RunFlags } from '../flags.ts';
import type { ReadPipeline } from '../workspace/read-pipeline.ts';
import { estimateRun, type KnownPlan } from './dry-run.ts';

/**
 * Asks before a run whose estimate is above `budget.ask`, and before anything is opened or sent. A rehearsal costs nothing,
 * and asks nothing.
 *
 * @throws CliError (exit 2) for a no, and where no user can be asked: an unattended run must not spend money that its file
 * wants to be asked about, unless its command line says yes
 */
export async function askAboutCost(
  read: ReadPipeline,
  flags: RunFlags,
  context: Context,
  known: KnownPlan,
): Promise<void> {
  const { ask } = read.pipeline.budget;
  if (ask === undefined || flags.yes || flags.sandbox) return;
  const { atMost: cost, exact } = await closingAfter((disposables) =>
    estimateRun(read, flags, disposables, context, known),
  );
  if (cost <= ask) return;
  const { io } = context;
  const says = `${exact ? '' : 'At most: '}${read.pipeline.source.file} is about to spend ${money(cost)}, more than budget.ask (${money(ask)})`;
  if (io.ask === undefined)
    throw usageError(
      `${says}, and there is no terminal to ask at. Nothing was submitted.`,
      'Say yes on the command line (--yes), or run a part of it (--limit, --filter). promptpress plan shows what it is for.',
    );
  const typed = await io.ask(`${says}. Go on? [y/N] `);
  if (/^\s*y(?:es)?\s*$/i.test(typed ?? '')) return;
  throw usageError(
    'Not confirmed: nothing was submitted.',
    'promptpress plan shows what it costs; --limit runs a part of it.',
  );
}
