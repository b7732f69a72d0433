import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import { placeFacts } from '../../../app/service/artifact-place.ts';
import { engineOf } from '../../../app/service/engine/directory.ts';
import { folderInputs } from '../../../app/service/engine/folder-inputs.ts';
import { openEngineTarget } from '../../../app/workspace/open.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { count, counted, money } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import { StateError } from '../../../state/store.ts';
import { command } from '../../args/command.ts';
import { toggle } from '../../args/flags.ts';
import { summaries } from '../../args/summaries.ts';
import { showCounting } from '../../terminal/counting.ts';

/** `promptpress rm FILE|ENGINE` */
export const remove = command(
  {
    name: 'rm',
    summary: summaries.rm,
    operands: 'FILE|ENGINE',
    about: `Shows what an engine stores of a run, and with --yes removes it: jobs, their history, replies, tables. Finished jobs are forgotten then: the next run of the pipeline makes and pays for everything again. Images, videos and the manifest stay where they are. It is refused during the run (exit 75).
The run is named as postgres://…#NAME, or by its pipeline where PROMPTPRESS_ENGINE names the engine. A run of one machine is its directory, which is removed like any other.`,
    examples: [
      {
        command: 'promptpress rm "postgres://press@db.example/press#foxes"',
        does: 'shows what would go',
      },
      { command: 'promptpress rm foxes.yaml --yes', does: 'removes it; the engine is in PROMPTPRESS_ENGINE' },
    ],
    flags: { yes: toggle('remove it; without this flag it is only shown') },
  },
  { least: 1, most: 1 },
  async (flags, [target = ''], context) =>
    await closingAfter(async (disposables) => {
      const { io } = context;
      const { engine, run, place, state } = await openEngineTarget('rm', target, context);
      disposables.add(() => state.close());
      const [{ removeRun }, { leaseRun }] = await Promise.all([
        import('../../../engine/slices/remove.ts'),
        import('../../../engine/slices/lead-lease.ts'),
      ]);
      const refuse = (): Error =>
        new StateError('state.locked', `The run ${place.name} is active and cannot be removed.`, {
          hint: `Stop it first, and wait for its workers: promptpress stop ${quoted(place.name)}`,
        });
      if ((await place.owner()) !== undefined) throw refuse();
      const { jobs, attempts, cost } = await state.totals();
      const all = Object.values(jobs).reduce((sum, of) => sum + of, 0);
      const what = `${counted(all, 'job')} (${count(jobs.done)} done), ${counted(attempts, 'submission')}${cost === 0 ? '' : `, cost ${money(cost)}`}`;
      if (!flags.yes) {
        await io.out(
          `${shownLine(place.name)}: ${what}. Nothing was removed. This removes it; afterwards finished jobs would be paid for again:\n  promptpress rm ${quoted(place.name)} --yes\n`,
        );
        return exitCodes.ok;
      }
      // Takes the lease of a coordinator, so that no other one starts.
      const lease = await leaseRun(engine, run, place.name).catch((error: unknown) => {
        throw error instanceof StateError && error.code === 'state.locked' ? refuse() : error;
      });
      disposables.add(() => lease.close());
      const id = await state.fact(placeFacts.owner);
      let deleted = 0;
      const hide = showCounting(io, () => `${count(deleted)} rows removed`);
      try {
        await removeRun(engine.pool, run, (rows) => {
          deleted = rows;
        });
      } finally {
        hide();
      }
      // The folder may belong to a newer run of the same name.
      if (id !== undefined && engineOf(place.directory)?.place === id) {
        await folderInputs(place.directory).clear();
        await rm(join(place.directory, runFiles.engine), { force: true });
      }
      await io.out(`${shownLine(place.name)}: removed, ${what}. Its files stay where they are.\n`);
      return exitCodes.ok;
    }),
);
