import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import { noEngineHere } from '../../../app/service/engine/connect.ts';
import { lockState } from '../../../app/workspace/checks/maker.ts';
import { checkAge } from '../../../app/workspace/checks/stale-state.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { countNames } from '../../../artifacts/store/counts.ts';
import { KeySet } from '../../../manifest/key-set.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import { checkFile } from '../../../state/files/plain-path.ts';
import { lockFileName, stateFiles } from '../../../state/state-files.ts';
import {
  type CleanFile,
  filesToClean,
  foreignFiles,
  forgetFiles,
  plannedFiles,
} from '../../../upkeep/clean.ts';
import { command } from '../../args/command.ts';
import { toggle } from '../../args/flags.ts';
import { targetFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';

/** Largest number of names listed. */
const maxListed = 20;

/** `promptpress clean FILE|DIR` */
export const clean = command(
  {
    name: 'clean',
    summary: summaries.clean,
    operands: '[FILE|DIR]',
    about: `Shows images, videos and texts in a run directory that the pipeline of the last run no longer lists, because prompts were edited or cells removed, and files that killed processes left. With --yes it removes them. Only files with names in the form of promptpress are considered; all others are listed, and stay.

Their jobs stay in the state as done and paid: if the pipeline asks for one again, its file is downloaded again, as long as the service has it. The command is refused during a run (exit 75).`,
    examples: [
      {
        command: 'promptpress clean runs/foxes',
        does: 'shows what would go: how many files, how many bytes',
      },
      { command: 'promptpress clean runs/foxes --yes', does: 'removes it' },
    ],
    flags: {
      yes: toggle('remove them; without this flag they are only shown'),
      ...targetFlags,
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io } = context;
      const {
        directory,
        engine,
        state: reader,
        file,
      } = await openTarget(targetOrDefault(given, 'clean', io), flags, context);
      await reader.close();
      if (engine !== undefined)
        throw noEngineHere(
          'clean',
          'promptpress verify postgres://…#NAME lists the files that no result names any more; remove them where they lie.',
        );
      const interrupts = io.interrupts('late');
      disposables.add(() => interrupts.stop());
      const signal = interrupts.drain;
      // The lock also protects a mere listing from files of a new run.
      const state = lockState(
        directory,
        'promptpress clean',
        { trusted: flags['trust-directory'] },
        disposables,
        context,
      );
      await checkAge(state.reader, directory, io.env);
      const { plan } = await planOfDirectory(directory, state.reader, context, file);
      const { store, remote } = await openArtifactsOf(directory, state.reader, signal, disposables, context);
      interrupts.listen();
      const planned = await plannedFiles(plan, state.reader, signal);

      const sums = new Map<CleanFile['why'], { files: number; bytes: number }>();
      const going = new KeySet();
      const examples: string[] = [];
      for await (const found of filesToClean(directory, store, planned, state.reader, signal)) {
        const sum = sums.get(found.why) ?? { files: 0, bytes: 0 };
        sums.set(found.why, { files: sum.files + 1, bytes: sum.bytes + found.bytes });
        going.add(found.file);
        if (examples.length < maxListed) examples.push(found.file);
      }
      const foreign = await foreignFiles(directory, isOurs, maxListed);
      const near = seenFrom(io.cwd, directory);
      const place = remote?.url ?? near;
      for await (const name of remote?.foreign() ?? []) {
        foreign.count += 1;
        if (foreign.names.length < maxListed) foreign.names.push(name);
      }
      const total = [...sums.values()].reduce((all, { files }) => all + files, 0);
      const bytes = [...sums.values()].reduce((all, sum) => all + sum.bytes, 0);
      const lines = [
        ...(total === 0
          ? [`${place}: nothing to remove.`]
          : [
              `${place}: ${counted(total, 'file')}, ${megabytes(bytes)}, ${flags.yes ? 'removed' : 'to remove'}:`,
              ...[...sums].map(
                ([why, sum]) => `  ${counted(sum.files, 'file')}, ${megabytes(sum.bytes)}: ${reasons[why]}`,
              ),
              ...(flags.yes ? [] : examples.map((name) => `    ${shownLine(name)}`)),
              ...(flags.yes || total <= examples.length
                ? []
                : [`    and ${count(total - examples.length)} more`]),
            ]),
        ...(foreign.count === 0
          ? []
          : [
              `${counted(foreign.count, 'name')} not of promptpress, left alone: ${foreign.names.map(shownLine).join(', ')}${foreign.count > foreign.names.length ? ', …' : ''}`,
            ]),
        ...(flags.yes || total === 0
          ? []
          : ['Nothing was removed. This removes them:', `  promptpress clean ${quoted(near)} --yes`]),
      ];
      if (flags.yes && total > 0) {
        await forgetFiles(state, (file) => going.has(file), signal);
        for await (const { file, why } of filesToClean(directory, store, planned, state.reader, signal)) {
          if (!going.has(file)) continue;
          const path = join(directory, file);
          if (why !== 'unfinished') await store.remove([file]);
          else if (checkFile(path)) await rm(path);
        }
      }
      await io.out(`${lines.join('\n')}\n`);
      return exitCodes.ok;
    }),
);

const reasons: Readonly<Record<CleanFile['why'], string>> = {
  unplanned: 'of jobs, or frames of grids, that are no longer in the pipeline',
  unlisted: 'named like results, but of no job',
  unfinished: 'left by a process that was killed while it wrote',
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const names = new Set<string>([...stateFiles, lockFileName, ...countNames, ...Object.values(runFiles)]);

/** Whether a file belongs to a run, or is a common system file that may stay. */
const isOurs = (name: string): boolean => names.has(name) || /^\.(?:gitignore|gitkeep|DS_Store)$/.test(name);
