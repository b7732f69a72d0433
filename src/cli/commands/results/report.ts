import { join, resolve, sep } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes, usageError } from '../../../app/errors/cli-error.ts';
import { without } from '../../../app/errors/correction.ts';
import { rememberedPlace } from '../../../app/service/artifact-place.ts';
import { version } from '../../../app/version.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { openArtifactFolder } from '../../../artifacts/store/folder.ts';
import { hasArtifacts } from '../../../artifacts/store/store.ts';
import { reportFiles, runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { type ReportProgress, type ReportTotals, writeReport } from '../../../report/gallery/write.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { commandsOf } from '../../../report/text/next-commands.ts';
import { quoted } from '../../../report/text/printable.ts';
import { checkFolder } from '../../../state/files/plain-path.ts';
import type { StateReader } from '../../../state/reader.ts';
import { command } from '../../args/command.ts';
import { toggle, valued } from '../../args/flags.ts';
import { targetFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { anyText, oneOf } from '../../args/values.ts';
import { showCounting } from '../../terminal/counting.ts';
import { builtPage } from './built-page.ts';

/** `promptpress report FILE|DIR` */
export const report = command(
  {
    name: 'report',
    summary: summaries.report,
    operands: '[FILE|DIR]',
    about: `Writes the gallery of a run: a folder with a page that shows every result, searches and filters them, and groups failures with advice. It opens from the disk in any browser, without a server and without the network. During a run it shows the results so far; a new report replaces the old one.

The report lies in report/ of the run directory and shows the images where they are: copy or move the run directory as a whole. With --to DIR it lies elsewhere, and leads to the run directory by a relative path. Each image has a thumbnail of at most 256 pixels; those that are there are not made again, and a report that was interrupted goes on where it was. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.`,
    examples: [
      { command: 'promptpress report runs/foxes', does: 'then open runs/foxes/report/index.html' },
      { command: 'promptpress report pipelines/foxes.yaml --sandbox', does: 'of a rehearsal' },
      { command: 'promptpress report runs/foxes --to foxes-report', does: 'in another folder' },
      {
        command: 'promptpress report runs/foxes --thumbnails none',
        does: 'faster, but cards show no images',
      },
    ],
    flags: {
      ...targetFlags,
      to: valued(
        'DIR',
        'folder of the report: empty, not there yet, or a report; default: report/ in the run directory',
        anyText,
      ),
      thumbnails: valued('webp|none', 'small images for the cards; default webp', oneOf('webp', 'none')),
      all: toggle('show every planned slot, not only those that the last run chose'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io, redactor } = context;
      const target = targetOrDefault(given, 'report', io);
      const { directory, place, state, file } = await openTarget(target, flags, context, 'files');
      disposables.add(() => state.close());
      const folder = folderOf(flags.to, directory, io.cwd);
      const { plan, facts } = await planOfDirectory(directory, state, context, file);
      await refuseWithoutFiles(directory, state, io.cwd);
      const artifacts = flags.thumbnails === 'none' ? undefined : openArtifactFolder(directory);
      disposables.add(async () => await artifacts?.close());
      const interrupts = io.interrupts();
      disposables.add(() => interrupts.stop());
      let progress: ReportProgress | undefined;
      const hide = showCounting(io, () => progressText(progress, plan.matrix.cellCount));
      let totals: ReportTotals;
      try {
        totals = await writeReport({
          plan,
          selection: flags.all ? {} : facts.selection,
          reader: state,
          directory,
          folder,
          page: builtPage(),
          ...(artifacts === undefined ? {} : { artifacts }),
          commands: await commandsOf(place, state, plan.pipeline, io.cwd),
          running: (await place.owner()) !== undefined,
          live: (await place.owner()) !== undefined,
          mask: redactor.applyToData,
          madeBy: `promptpress ${version}`,
          at: io.now(),
          signal: interrupts.drain,
          onProgress: (now) => {
            progress = now;
          },
        });
      } catch (error) {
        const name = interrupts.first();
        if (name === undefined || !interrupts.drain.aborted) throw error;
        io.err('Stopped. The next report reuses the finished thumbnails.\n');
        return exitCodes[name];
      } finally {
        hide();
      }
      const seen = (path: string): string => seenFrom(io.cwd, path);
      for (const line of warnings(totals, flags.to === undefined ? undefined : seen(directory)))
        io.err(`${line}\n`);
      const { made, reused } = totals.thumbnails;
      const thumbnails = artifacts === undefined ? '' : `, ${counted(made + reused, 'thumbnail')}`;
      await io.out(
        `${seen(join(folder, reportFiles.page))}: ${counted(totals.results, 'result')}${thumbnails}\n`,
      );
      return exitCodes.ok;
    }),
);

/** The page shows images beside it. @throws CliError (exit 2) if they lie in a bucket without local copies */
async function refuseWithoutFiles(directory: string, state: StateReader, cwd: string): Promise<void> {
  const place = await rememberedPlace(state);
  if (place === undefined || (await hasArtifacts(openArtifactFolder(directory), ''))) return;
  const near = seenFrom(cwd, directory);
  throw usageError(
    `The images of this run are in ${place}, but a report shows only images in the run directory.`,
    `This shows them from there: promptpress serve ${quoted(near)}\nOr bring a copy here first: aws s3 sync ${quoted(`${place}/images`)} ${quoted(join(near, 'images'))}`,
  );
}

/** Returns the folder of the report. @throws CliError (exit 2) for a folder of the run's files; StateError for a link */
function folderOf(to: string | undefined, directory: string, cwd: string): string {
  const own = join(directory, runFiles.report);
  const folder = to === undefined ? own : resolve(cwd, to);
  if (folder === own) checkFolder(own);
  else if (folder === directory || folder.startsWith(`${directory}${sep}`))
    throw usageError(
      `--to ${to} lies among the files of the run.`,
      `Without the flag the report lies in ${runFiles.report}/ of the run directory; name a folder beside it otherwise.`,
      without('--to', true),
    );
  return folder;
}

function progressText(progress: ReportProgress | undefined, cells: number): string {
  const { cell = 0, results = 0, thumbnails } = progress ?? {};
  const { made = 0, reused = 0 } = thumbnails ?? {};
  return `report: cell ${count(cell)} of ${count(cells)}, ${counted(results, 'result')}, ${counted(made + reused, 'thumbnail')}`;
}

const whyWithout = {
  missing: 'no file',
  changed: 'a file that has changed',
  broken: 'no whole image',
  'too-large': 'too large',
  'no-library': 'because sharp is not installed (npm install --include=optional sharp)',
} as const;

/** @param elsewhere run directory, if the report lies outside of it */
function* warnings(
  { thumbnails: { without } }: ReportTotals,
  elsewhere: string | undefined,
): Generator<string> {
  const reasons = Object.entries(whyWithout).flatMap(([why, words]) => {
    const images = without[why as keyof typeof whyWithout] ?? 0;
    return images === 0 ? [] : [`${count(images)} ${words}`];
  });
  if (reasons.length > 0) yield `Images without a thumbnail: ${reasons.join(', ')}.`;
  if (elsewhere !== undefined)
    yield `The images stay in ${elsewhere}: if you move the report, move that folder too.`;
}
