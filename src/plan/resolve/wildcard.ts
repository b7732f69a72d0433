import type { Selector } from '../../pipeline/pipeline.ts';
import { offered, wildcardBranch, wildcardMatches } from '../button-match.ts';
import type { Button, JobError } from '../job.ts';
import type { Press } from '../job-request.ts';
import { textPress } from '../request/click.ts';

/** What a wildcard turned out to press, once its task is finished. */
export type WildcardChoice =
  | { readonly kind: 'found'; readonly found: readonly { readonly name: string; readonly press: Press }[] }
  | { readonly kind: 'missing'; readonly error: JobError };

/**
 * The buttons that a wildcard selector presses, in the order in which the task offers them. Each is pressed by the
 * label found, exactly as if the file had named it, so that `U*` and `U1` are one job.
 */
export function wildcardChoice(selector: Selector, buttons: readonly Button[]): WildcardChoice {
  const [wildcard, ...others] = selector.alternatives;
  if (wildcard?.kind !== 'wildcard' || others.length > 0)
    throw new Error(`Internal error: "${selector.name}" is no wildcard alone.`);
  const found = wildcardMatches(wildcard.source, buttons);
  if (found.length > 0)
    return {
      kind: 'found',
      found: found.map((button) => ({ name: wildcardBranch(button), press: textPress(button.label) })),
    };
  return { kind: 'missing', error: missingButton(selector.name, buttons) };
}

/** The failure of a press that a finished task does not offer. */
export const missingButton = (name: string, buttons: readonly Button[]): JobError => ({
  code: 'button.missing',
  message: `The task offers no button "${name}". It offers: ${offered(buttons)}.`,
});
