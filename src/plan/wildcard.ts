import type { Selector } from '../pipeline/pipeline.ts';
import type { Button, JobError, Press } from './job.ts';
import { offered, wildcardMatches } from './press.ts';
import { textPress } from './request.ts';

/** What a wildcard turned out to press, once its task is finished. */
export type WildcardChoice =
  | { readonly kind: 'found'; readonly found: readonly { readonly name: string; readonly press: Press }[] }
  | { readonly kind: 'missing'; readonly error: JobError };

/**
 * The buttons that a wildcard selector presses, in the order in which the task offers them. Each is pressed by the
 * text found, exactly as if the file had named it, so that `U*` and `U1` are one job. Buttons with the same text are
 * one: pressing it is then refused as ambiguous, as it would be for the literal text.
 */
export function wildcardChoice(selector: Selector, buttons: readonly Button[]): WildcardChoice {
  const names = new Map<string, Press>();
  for (const match of selector.alternatives) {
    if (match.kind !== 'wildcard')
      throw new Error(`Internal error: "${selector.name}" mixes a wildcard with other alternatives.`);
    for (const button of wildcardMatches(match.source, buttons)) {
      const press = textPress(button.label === '' ? button.emoji : button.label);
      names.set(press.text, press);
    }
    if (names.size > 0) return { kind: 'found', found: [...names].map(([name, press]) => ({ name, press })) };
  }
  return {
    kind: 'missing',
    error: {
      code: 'button.missing',
      message: `The task offers no button "${selector.name}". It offers: ${offered(buttons)}.`,
    },
  };
}
