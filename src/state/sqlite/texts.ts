import { exactJson, parseExact } from '../../pipeline/values/exact-json.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { TextCandidate, TextResult } from '../../plan/job-request.ts';

/** A row of `jobs`, with that of `texts` beside it. */
export interface DocumentRow {
  readonly key: string;
  readonly doc: string;
  /** Null: it has none. */
  readonly said: string | null;
}

/** A candidate as it is stored: parts that are its text and nothing else are not stored beside it. */
type StoredCandidate = Omit<TextCandidate, 'parts'> & Partial<Pick<TextCandidate, 'parts'>>;

interface StoredTexts {
  readonly text?: readonly StoredCandidate[];
  /** Of the result that a job had before it was redone. */
  readonly former?: readonly StoredCandidate[];
}

/**
 * The columns of {@link DocumentRow}, and the tables to read them from.
 *
 * @param condition what follows: `WHERE …`
 * @param more columns beside them
 */
export const documents = (condition: string, source = 'jobs', more?: string): string =>
  `SELECT jobs.key, jobs.doc, texts.doc AS said${more === undefined ? '' : `, ${more}`} FROM ${source} LEFT JOIN texts ON texts.job = jobs.id ${condition}`;

/** The record of a row, as it was committed; nobody has checked that it is one. @throws SyntaxError */
export function recordOf({ doc, said }: DocumentRow): unknown {
  const record = parseExact(doc) as JobRecord;
  if (said === null || typeof record !== 'object' || record === null) return record;
  const { text, former } = parseExact(said) as StoredTexts;
  return {
    ...record,
    ...(text !== undefined && record.text !== undefined ? { text: withCandidates(record.text, text) } : {}),
    ...(former !== undefined && record.former?.text !== undefined
      ? { former: { ...record.former, text: withCandidates(record.former.text, former) } }
      : {}),
  };
}

/** @param result as its document has it: without candidates */
const withCandidates = (
  result: Omit<TextResult, 'candidates'>,
  stored: readonly StoredCandidate[],
): TextResult => ({
  candidates: stored.map((candidate) => ({
    ...candidate,
    parts: candidate.parts ?? [{ text: candidate.text }],
  })),
  ...result,
});

/** A record as its row holds it, and what `texts` holds of it; undefined: nothing. */
export function storedForm(record: JobRecord): { readonly doc: string; readonly said?: string } {
  const { text, former } = record;
  if (text === undefined && former?.text === undefined) return { doc: exactJson(record) };
  const said: StoredTexts = {
    ...(text === undefined ? {} : { text: stored(text) }),
    ...(former?.text === undefined ? {} : { former: stored(former.text) }),
  };
  return {
    doc: exactJson({
      ...record,
      // `undefined` is left out of JSON.
      ...(text === undefined ? {} : { text: { ...text, candidates: undefined } }),
      ...(former?.text === undefined
        ? {}
        : { former: { ...former, text: { ...former.text, candidates: undefined } } }),
    }),
    said: exactJson(said),
  };
}

const stored = ({ candidates }: TextResult): readonly StoredCandidate[] =>
  candidates.map(({ parts, ...candidate }) =>
    isTextAlone(parts, candidate.text) ? candidate : { ...candidate, parts },
  );

function isTextAlone(parts: TextCandidate['parts'], text: string): boolean {
  const [part, ...more] = parts;
  if (more.length > 0 || typeof part !== 'object' || part === null || !('text' in part)) return false;
  return part['text'] === text && Object.keys(part).length === 1;
}
