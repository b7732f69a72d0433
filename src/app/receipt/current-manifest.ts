import { isNarrowed } from '../../manifest/cells.ts';
import type { ManifestTotals } from '../../manifest/tally.ts';
import { readRunFacts } from '../../report/facts/run.ts';
import { pipelineFacts } from '../../state/binding.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Redactor } from '../output/redact.ts';
import { recogniseManifest } from './recognise.ts';

/**
 * What the manifest of a run directory adds up to, where it lies there as it would be written for the last run; undefined where it is to
 * be written.
 */
export async function currentManifest(
  directory: string,
  state: StateReader,
  wanted: {
    /** Every planned slot is to be listed, whatever the last run's flags chose. */
    readonly all: boolean;
    readonly escapeFormulas: boolean;
  },
  redactor: Redactor,
): Promise<ManifestTotals | undefined> {
  const facts = await readRunFacts(state);
  const text = await state.fact(pipelineFacts.text);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || text === undefined || path === undefined) return undefined;
  const { filesRoot, serviceId, origin, set, selection } = facts;
  if (wanted.all && isNarrowed(selection)) return undefined;
  const identity = {
    path,
    text,
    ...(set === undefined ? {} : { set }),
    service: { id: serviceId, ...(origin === undefined ? {} : { origin }) },
    filesRoot,
    selection,
  };
  const { escapeFormulas } = wanted;
  const receipt = await recogniseManifest(state, identity, { directory, escapeFormulas, redactor });
  return receipt?.totals;
}
