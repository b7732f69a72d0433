import { resolve } from 'node:path';
import type { CrewStatus } from '../../../report/facts/crew.ts';
import type { StoreTotals } from '../../../state/reader.ts';
import { closingAfter } from '../../adapters/disposables.ts';
import { checkMetricsFile } from '../../adapters/metrics-file.ts';
import { watchMetrics } from '../../adapters/metrics-watch.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../errors/cli-error.ts';
import { failureText } from '../../errors/render.ts';
import type { RunFlags } from '../../flags.ts';
import { type RunOutput, seenThrough } from '../../run/outcome.ts';
import { openEngine } from '../../service/engine/connect.ts';
import { notifyTarget } from '../../service/notify.ts';
import type { AdmittedService } from '../../service/trust.ts';
import type { ReadPipeline } from '../../workspace/read-pipeline.ts';
import { coordinate } from './coordinate.ts';
import { holdOnEngine, type LedDirectory } from './hold.ts';
import type { LeadMetrics } from './view.ts';

/** Of a coordinator, also of one that works: the queue has one more. */
const connections = 2;

/**
 * `promptpress run FILE --engine`: leads a run on an engine, and works on it.
 *
 * @returns the exit code
 */
export async function runOnEngine(
  read: ReadPipeline,
  service: AdmittedService,
  flags: RunFlags,
  context: Context,
  output: RunOutput,
): Promise<number> {
  const { io } = context;
  const { warn: say } = output;
  const { baseUrl } = service;
  if (baseUrl === undefined) throw new Error('Internal error: a run on an engine has a service.');
  const warn = (text: string): void => say(failureText(`warning: ${text}`));
  // A wrong address is refused before anything is held.
  notifyTarget(flags.notify, io.env, context.redactor);
  return await closingAfter(async (disposables) => {
    // Until its cells are fed nobody works for it, and it may be killed; whoever leads it next waits for it no longer than for any dead lead.
    const interrupts = io.interrupts('late');
    disposables.add(() => interrupts.stop());
    const engine = await openEngine(
      flags.engine,
      {
        as: 'run',
        name: 'run',
        connections,
        waits: { signal: interrupts.drain, say: (text) => say(`${text}\n`) },
      },
      disposables,
      context,
    );
    const reached = { ...service, baseUrl };
    const held = await holdOnEngine(read, reached, engine, flags, interrupts, disposables, context);
    const metrics = await metricsOf(read, held, flags, warn, context);
    const told = await seenThrough(flags, output, metrics?.watch, interrupts.leave, context, () =>
      coordinate(read, reached, engine, held, flags, metrics, interrupts, disposables, context),
    );
    return told?.summary.exitCode ?? exitCodes.ok;
  });
}

/** @throws CliError (exit 2) where `--metrics-file` cannot be written */
async function metricsOf(
  { pipeline }: ReadPipeline,
  { facts, startedAt }: LedDirectory,
  flags: RunFlags,
  warn: (text: string) => void,
  { io }: Context,
): Promise<LeadMetrics | undefined> {
  // A detached run is nobody's to measure here.
  if (flags['metrics-file'] === undefined || flags.detach) return undefined;
  const file = resolve(io.cwd, flags['metrics-file']);
  await checkMetricsFile(file, '--metrics-file');
  const known: Omit<LeadMetrics, 'watch'> = { totals: await facts.reader.totals(), crew: undefined };
  const totals = (): StoreTotals => known.totals;
  const crew = (): CrewStatus | undefined => known.crew;
  const watch = watchMetrics({ file, pipeline: pipeline.name, startedAt, totals, crew }, io, warn);
  return Object.assign(known, { watch });
}
