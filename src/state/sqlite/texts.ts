import { exactJson, parseExact } from '../../pipeline/values/exact-json.ts';
import type { JobRecord } from '../../plan/job.ts';
import type { TextCandidate, TextResult } from '../../plan/job-request.ts';

/** A row of `jobs`, with its row of `texts`. */
export interface DocumentRow {
  readonly key: string;
  readonly doc: string;
  /** The row of `texts`; null: there is none. */
  readonly said: string | null;
}

/** A stored candidate: parts that repeat its text are left out. */
type StoredCandidate = Omit<TextCandidate, 'parts'> & Partial<Pick<TextCandidate, 'parts'>>;

interface StoredTexts {
  readonly text?: readonly StoredCandidate[];
  /** Candidates of the result before the job was redone. */
  readonly former?: readonly StoredCandidate[];
}

/**
 * Returns a query of the columns of {@link DocumentRow}, and of their tables.
 *
 * @param condition the rest of the query: `WHERE …`
 * @param more further columns
 */
export const documents = (condition: string, source = 'jobs', more?: string): string =>
  `SELECT jobs.key, jobs.doc, texts.doc AS said${more === undefined ? '' : `, ${more}`} FROM ${source} LEFT JOIN texts ON texts.job = jobs.id ${condition}`;

/** Returns the record of a row as it was committed; nobody has checked its shape. @throws SyntaxError */
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

/** @param result as in its document: without candidates */
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

/** Returns a record in its stored form, and its text for `texts`; undefined: it has none. */
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
