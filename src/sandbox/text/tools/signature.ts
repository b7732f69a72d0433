import { createHash } from 'node:crypto';
import { canonical } from '../../seeded.ts';
import { type AskTurn, type Members, questionOf } from '../ask.ts';

/** The signature that a newer model gives with a function call: it fits this call alone. */
export const callSignature = (name: string, args: Members): string =>
  createHash('sha512')
    .update(`thought ${name} ${canonical(args)}`)
    .digest('base64');

/**
 * What is wrong with the signatures of earlier function calls, in the words of the family (gateway 6.4): in the turn
 * under way each call needs its own, verbatim; further back one may be missing, but not changed.
 */
export function signatureError(turns: readonly AskTurn[]): string | undefined {
  const current = turns.lastIndexOf(questionOf({ turns }));
  let position = 0;
  for (const [index, { parts }] of turns.entries()) {
    for (const part of parts) {
      if (part.kind !== 'call') continue;
      position += 1;
      const about = `function call \`default_api:${part.name}\`, position ${position}`;
      if (part.signature === undefined) {
        if (index < current) continue;
        return (
          'Function call is missing a thought_signature in functionCall parts. This is required for tools to work ' +
          `correctly, and missing thought_signature may lead to degraded model performance. Additional data, ${about}.`
        );
      }
      if (part.signature !== callSignature(part.name, part.args)) {
        return `Thought signature is not valid. Additional data, ${about}.`;
      }
    }
  }
  return undefined;
}
