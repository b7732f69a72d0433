import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import { shownErrorOf } from '../../../app/errors/render.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import type { EngineRun } from '../../../app/service/engine/run.ts';
import { version } from '../../../app/version.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import type { PageWorkers } from '../../../report/results/wire.ts';
import { startServing } from '../../../report/serve/server.ts';
import { commandsOf } from '../../../report/text/next-commands.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import type { StateReader } from '../../../state/reader.ts';
import { aborted, onPort } from '../../adapters/server.ts';
import { command } from '../../args/command.ts';
import { toggle, valued } from '../../args/flags.ts';
import { targetFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { portNumber } from '../../args/values.ts';
import { builtPage } from './built-page.ts';

/** `promptpress serve FILE|DIR` */
export const serve = command(
  {
    name: 'serve',
    summary: summaries.serve,
    operands: '[FILE|DIR]',
    about: `Shows the gallery of a run in a browser and keeps it up to date while a run is on: the same page as that of promptpress report, read from the state, so that even a million results open at once. Its first line on standard output is its address, with a token that lets one browser in; then it prints another one, for the next browser. It changes nothing, and runs until Ctrl-C.

It listens on this machine only, on an address of 127.0.0.0/8 that nobody can guess; with --port on 127.0.0.1. From elsewhere: ssh -L 8080:127.0.0.1:8080 HOST promptpress serve runs/foxes --port 8080. Images of the cards are made small when they are looked at; they are kept in memory, or with those of the report where the run directory has one. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.`,
    examples: [
      { command: 'promptpress serve runs/foxes', does: 'open the address that it prints' },
      { command: 'promptpress serve pipelines/foxes.yaml --sandbox', does: 'a rehearsal' },
      { command: 'promptpress serve runs/foxes --port 8080', does: 'on a port of your choice' },
    ],
    flags: {
      ...targetFlags,
      port: valued('PORT', 'port on 127.0.0.1; 0: any free one', portNumber),
      all: toggle('show every planned slot, not only those that the last run chose'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io, redactor } = context;
      const interrupts = io.interrupts('late');
      disposables.add(() => interrupts.stop());
      const target = targetOrDefault(given, 'serve', io);
      const { directory, place, engine, state, file } = await openTarget(target, flags, context, 'files');
      disposables.add(() => state.close());
      const { leave } = interrupts;
      const { store: artifacts } = await openArtifactsOf(directory, state, leave, disposables, context);
      interrupts.listen();
      let problem = '';
      const serving = await onPort(flags.port ?? 0, () =>
        startServing({
          directory,
          reader: state,
          artifacts,
          page: builtPage(),
          port: flags.port,
          onEntered: (address) => void io.out(`${address}\n`),
          plan: async () => {
            const { plan, facts } = await planOfDirectory(directory, state, context, file);
            const commands = await commandsOf(place, state, plan.pipeline, io.cwd);
            const advisor = { commands, mask: redactor.applyToData };
            return { plan, selection: flags.all ? {} : facts.selection, advisor };
          },
          identity: async () => await identityOf(state),
          isRunning: async () => (await place.owner({ waitMs: 0 })) !== undefined,
          ...(engine === undefined ? {} : { workersStatus: () => workersOf(engine) }),
          madeBy: `promptpress ${version}`,
          now: () => io.now(),
          every: (ms, call) => io.every(ms, call),
          onProblem: (error) => {
            // The same error may recur twice a second.
            const { text = '' } = shownErrorOf(error, []);
            if (text !== problem) io.err(text);
            problem = text;
          },
        }),
      );
      disposables.add(() => serving.close());
      await io.out(`${serving.address}\n`);
      io.err(
        `Shows ${place.name}. The address lets one browser in; then the next one is printed. Ctrl-C ends it.\n`,
      );
      await aborted(interrupts.drain);
      return exitCodes.ok;
    }),
);

/** Reads the status of the workers for the page. */
async function workersOf({ engine, run, state }: EngineRun): Promise<PageWorkers | undefined> {
  const { readWorkers } = await import('../../../engine/slices/workers.ts');
  const workersStatus = await readWorkers(engine.pool, run, (await readRunFacts(state))?.serviceId);
  return (
    workersStatus && {
      workers: workersStatus.workers.filter(({ alive }) => alive).length,
      waiting: workersStatus.slices.waiting,
    }
  );
}

/** Returns a text that changes with the plan of the last run, but not with its outcome. */
async function identityOf(state: StateReader): Promise<string> {
  const { filesRoot, tables, serviceId, set, selection } = (await readRunFacts(state)) ?? {};
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  return JSON.stringify([text, path, filesRoot, tables, serviceId, set, selection]);
}
