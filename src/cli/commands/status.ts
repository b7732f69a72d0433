import { commandsOf } from '../../report/text/next-commands.ts';
import { type RunStatus, readStatus, statusText } from '../../report/text/status.ts';
import type { StateReader } from '../../state/reader.ts';
import { closingAfter } from '../adapters/disposables.ts';
import { command } from '../args/command.ts';
import { toggle } from '../args/flags.ts';
import { placeFlags } from '../args/run-flags.ts';
import { exitCodes } from '../errors/cli-error.ts';
import type { Io } from '../terminal/io.ts';
import { jsonLine } from '../terminal/json-line.ts';
import { targetOrDefault } from '../workspace/default-file.ts';
import { keptOptional, keptPipeline } from '../workspace/last-pipeline.ts';
import { openTarget } from '../workspace/open.ts';

/** `promptpress status FILE|DIR` */
export const status = command(
  {
    name: 'status',
    summary: 'how far a run is, what failed and why, what is in doubt; also while it is on',
    operands: '[FILE|DIR]',
    about: `Counts the jobs of a run directory by what became of them, with the reasons of failures and the jobs in doubt. It may be asked while the run is on and does not slow it down. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.`,
    examples: [
      { command: 'promptpress status pipeline.yaml', does: 'a run by its pipeline' },
      { command: 'promptpress status pipeline.yaml --sandbox', does: 'its rehearsal' },
      { command: 'promptpress status runs/foxes --json', does: 'for a script or a monitor' },
    ],
    flags: {
      out: placeFlags.out,
      'trust-directory': placeFlags['trust-directory'],
      sandbox: toggle('with FILE: its rehearsal, in runs/<name>.sandbox beside it'),
      json: toggle('print one JSON object (schemas/status.schema.json)'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io, redactor } = context;
      const target = targetOrDefault(given, 'status', io);
      const { directory, state } = await openTarget(target, flags, context);
      disposables.add(() => state.close());
      const found = await readStatus(directory, state, await keptOptional(directory, state, io.cwd), io);
      const text = flags.json ? jsonLine(found) : await forPeople(found, directory, state, io);
      await io.out(redactor.apply(text));
      return exitCodes.ok;
    }),
);

async function forPeople(
  found: RunStatus,
  directory: string,
  state: StateReader,
  { cwd, now }: Pick<Io, 'cwd' | 'now'>,
): Promise<string> {
  const pipeline = found.doubts > 0 ? await keptPipeline(directory, state, cwd) : undefined;
  return statusText(found, now(), (await commandsOf(directory, state, pipeline, cwd)).find);
}
