import type { PackedResults, PageResult, PageStatus } from './wire.ts';

/** Distinct values in the order of their first occurrence. */
class Listed<Value> {
  readonly values: Value[] = [];
  readonly #places = new Map<unknown, number>();

  /** Returns the place of a value. @param name that equal values share */
  place(value: Value, name: unknown = value): number {
    const place = this.#places.get(name) ?? this.values.push(value) - 1;
    this.#places.set(name, place);
    return place;
  }
}

/**
 * Packs results into columns.
 *
 * @param results in order, without gaps
 * @param steps names of all steps, in the order of the summary
 */
export function packResults(results: readonly PageResult[], steps: readonly string[]): PackedResults {
  const branches = new Listed<string>();
  const statuses = new Listed<PageStatus>();
  const kinds = new Listed<string>();
  const prompts = new Listed<string>();
  const errors = new Listed<readonly [string, string]>();
  const stepAt = new Map(steps.map((name, index) => [name, index]));
  const column = <T>(read: (result: PageResult) => T): readonly T[] => results.map(read);
  const vars = (results[0]?.vars ?? []).map((_, index) => {
    const listed = new Listed<string>();
    return { values: listed.values, value: column((result) => listed.place(result.vars[index] ?? '')) };
  });
  return {
    from: results[0]?.at ?? 0,
    count: results.length,
    cell: column(({ cell }) => cell),
    step: column(({ step }) => stepAt.get(step) ?? 0),
    branch: column(({ branch }) => branches.place(branch)),
    branches: branches.values,
    status: column(({ status }) => statuses.place(status)),
    statuses: statuses.values,
    kind: column(({ kind }) => kinds.place(kind)),
    kinds: kinds.values,
    output: column(({ output = 0 }) => output),
    frame: column(({ frame = 0 }) => frame),
    picked: column(({ picked = '' }) => picked),
    madeFrom: column(({ madeFrom = '' }) => madeFrom),
    job: column(({ job = '' }) => job),
    media: column(({ media = '' }) => media),
    file: column(({ file = '' }) => file),
    thumbnail: column(({ thumbnail = '' }) => thumbnail),
    width: column(({ width = 0 }) => width),
    height: column(({ height = 0 }) => height),
    prompt: column(({ prompt }) => (prompt === undefined ? -1 : prompts.place(prompt))),
    prompts: prompts.values,
    text: column(({ text = '' }) => text),
    error: column(({ errorCode, errorMessage = '' }) =>
      errorCode === undefined ? -1 : errors.place([errorCode, errorMessage], `${errorCode} ${errorMessage}`),
    ),
    errors: errors.values,
    vars,
    cost: column(({ cost = -1 }) => cost),
    finishedAt: column(({ finishedAt = 0 }) => finishedAt),
    seconds: column(({ seconds = 0 }) => seconds),
  };
}
