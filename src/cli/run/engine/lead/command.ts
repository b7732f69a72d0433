import { wallClock } from '../../../adapters/clock.ts';
import { closingAfter } from '../../../adapters/disposables.ts';
import type { Context } from '../../../args/command.ts';
import type { FlagValues } from '../../../args/flags.ts';
import type { runFlags } from '../../../args/run-flags.ts';
import { exitCodes } from '../../../errors/cli-error.ts';
import { failureText } from '../../../errors/render.ts';
import { openEngine } from '../../../service/engine/connect.ts';
import { notify, notifyTarget } from '../../../service/notify.ts';
import type { AdmittedService } from '../../../service/trust.ts';
import type { ReadPipeline } from '../../../workspace/read-pipeline.ts';
import { coordinate } from './coordinate.ts';
import { holdOnEngine } from './hold.ts';

/** Of a coordinator that works too: its statements, its commits, and what it looks at beside them. */
const connections = 6;

/**
 * `promptpress run FILE --engine`: leads a run on an engine, and works on it.
 *
 * @param say shows what the user would miss, also where all else is held back
 * @returns the exit code
 */
export async function runOnEngine(
  read: ReadPipeline,
  service: AdmittedService,
  flags: FlagValues<typeof runFlags>,
  context: Context,
  say: (text: string) => void,
): Promise<number> {
  const { io, redactor } = context;
  const { baseUrl } = service;
  if (baseUrl === undefined) throw new Error('Internal error: a run on an engine has a service.');
  const target = notifyTarget(flags.notify, io.env, redactor);
  return await closingAfter(async (disposables) => {
    const interrupts = io.interrupts();
    disposables.add(() => interrupts.stop());
    const engine = await openEngine(
      flags.engine,
      { as: 'run', name: 'run', connections },
      disposables,
      context,
    );
    const reached = { ...service, baseUrl };
    const held = await holdOnEngine(read, reached, engine, flags, disposables, context);
    const summary = await coordinate(read, reached, engine, held, flags, interrupts, disposables, context);
    if (summary === undefined) return exitCodes.ok;
    if (target !== undefined) {
      const ports = { clock: wallClock, env: io.env, leave: interrupts.leave };
      const failure = await notify(target, summary, redactor, ports);
      if (failure !== undefined) say(redactor.apply(failureText(`warning: ${failure}`)));
    }
    return summary.exitCode;
  });
}
