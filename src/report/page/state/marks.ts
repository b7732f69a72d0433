import type { Mark } from './address.ts';

/** Marks of results, by the key of the job. */
export type Marks = ReadonlyMap<string, Mark>;

/** Reads stored marks. Unreadable marks are ignored. */
export function readMarks(text: string | null): Marks {
  try {
    const entries = Object.entries(JSON.parse(text ?? '{}') as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, Mark] => isMark(entry[1])));
  } catch {
    return new Map();
  }
}

export const writeMarks = (marks: Marks): string => JSON.stringify(Object.fromEntries(marks));

const isMark = (value: unknown): value is Mark => value === 'keep' || value === 'reject';

/** Sets a mark on a job, or removes it if it is set. */
export function flipMark(marks: Marks, job: string, mark: Mark): Marks {
  const next = new Map(marks);
  if (next.get(job) === mark) next.delete(job);
  else next.set(job, mark);
  return next;
}

/** Returns the jobs with a mark. */
export const jobsWith = (marks: Marks, mark: Mark): ReadonlySet<string> =>
  new Set([...marks].flatMap(([job, each]) => (each === mark ? [job] : [])));

/** Writes the table for `export --jobs` and `run --redo-jobs`. */
export function marksTable(marks: Marks): string {
  const rows = [...marks].map(([job, mark]) => `${field(job)},${mark},`);
  return ['job,mark,note', ...rows, ''].join('\r\n');
}

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
