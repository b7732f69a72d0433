/** Collects the first items of an iterable, at most `most`. */
export async function first<T>(most: number, items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === most) break;
  }
  return found;
}

/** What a run with `--in-doubt find` does, in words. */
export const finding =
  'searches the tasks of all jobs in doubt by their tag, where the gateway lists its tasks: pays nothing';

/**
 * Returns the commands that settle a job in doubt; those that cannot cause a second payment come first.
 *
 * @param resolve the beginning of a command that names the job
 * @param find last run with `--in-doubt find`; undefined if its submissions had no tag
 */
export const waysOut = (
  resolve: string,
  find: string | undefined,
): readonly { readonly command: string; readonly does: string }[] => [
  ...(find === undefined ? [] : [{ command: find, does: finding }]),
  {
    command: `${resolve} --task TASK_ID`,
    does: 'the service has its task (look for the prompt in its list of tasks): adopts that task',
  },
  { command: `${resolve} --drop`, does: 'gives it up: it counts as failed' },
  { command: `${resolve} --retry`, does: 'the next run submits it again: it may be paid twice' },
];
