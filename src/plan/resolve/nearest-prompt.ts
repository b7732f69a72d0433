import { makesWords } from '../../pipeline/kinds.ts';
import { suggestedBy } from '../button-match.ts';
import type { JobRecord } from '../job.ts';
import { promptOf } from '../request/text.ts';
import type { RecordLookup } from '../slot.ts';
import { standing } from './former.ts';

/** A chain is as long as its path; this only bounds what a damaged state could do. */
const longestChain = 1000;

/**
 * The prompt that a job is drawn from, as recorded: its own, or the one that a describe suggested for its button, else that
 * of the nearest ancestor with one of the two. A describe ends the search: its buttons draw its suggestions, not the prompt
 * of its own image. A text job ends it too: its prompt is no prompt of an image.
 */
export const nearestPrompt = (record: JobRecord, lookup: RecordLookup): string | undefined =>
  promptOf(record.request.fields) ?? promptAbove(record, lookup);

/** The same without its own: what a click is drawn from whose button asks for no prompt. */
export function promptAbove(record: JobRecord, lookup: RecordLookup): string | undefined {
  let at = record;
  for (let steps = 0; steps < longestChain; steps += 1) {
    const parent = at.parent === undefined ? undefined : lookup(at.parent);
    const suggested = suggestion(at, parent);
    if (suggested !== undefined || parent === undefined) return suggested;
    if (makesWords(parent.kind)) return undefined;
    const prompt = promptOf(parent.request.fields);
    if (prompt !== undefined) return prompt;
    at = parent;
  }
  return undefined;
}

/** What the button of a describe draws. */
function suggestion({ pressed }: JobRecord, parent: JobRecord | undefined): string | undefined {
  const number = pressed === undefined ? undefined : suggestedBy(pressed);
  if (number === undefined || parent === undefined) return undefined;
  return standing(parent).result?.prompts?.[number - 1];
}
