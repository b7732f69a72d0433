import { isNarrowed } from '../../manifest/cells.ts';
import { settledReport } from '../../plan/estimate/settled.ts';
import { buildGraph } from '../../plan/graph/build.ts';
import { readRunFacts } from '../../report/facts/run.ts';
import { asksForWork } from '../flags.ts';
import type { KnownPlan } from '../run/dry-run.ts';
import { selectionOf } from '../workspace/selection.ts';
import { recognisePlan } from './recognise.ts';

/** The plan of a whole pipeline in whose last run nothing was left to do, from what that run noted: no table is read, and no slot looked at. */
export const knownPlan: KnownPlan = async ({ pipeline, path, files }, flags, { state, service }) => {
  const selection = selectionOf(flags);
  if (asksForWork(flags) || isNarrowed(selection)) return undefined;
  const { source } = pipeline;
  const identity = {
    path,
    text: source.text,
    ...(source.set === undefined ? {} : { set: source.set }),
    service: { ...(await lastOrigin(state, service.id)), ...service },
    filesRoot: files.root,
    selection,
  };
  const receipt = await recognisePlan(state, identity, files);
  if (receipt?.steps === undefined) return undefined;
  const slotGraph = buildGraph(pipeline.steps, pipeline.models);
  if ('tooMany' in slotGraph) return undefined;
  const { cells, steps } = receipt;
  return settledReport(
    { pipeline, serviceId: service.id, slotGraph },
    { cells, steps },
    await state.totals(),
  );
};

/** A plan needs no address where the service has a name: then it is for that of the last run. */
async function lastOrigin(
  state: Parameters<typeof readRunFacts>[0],
  serviceId: string,
): Promise<{ readonly origin?: string }> {
  const facts = await readRunFacts(state);
  return facts?.origin === undefined || facts.serviceId !== serviceId ? {} : { origin: facts.origin };
}
