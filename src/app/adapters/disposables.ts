/** What has been opened and must be closed, the last one first, whatever happens. */
export class Disposables {
  readonly #steps: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.#steps.push(close);
  }

  /** Closes everything, also when one of them fails. @throws the first failure */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#steps.pop(); close !== undefined; close = this.#steps.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Runs the work with things to close. A failure of the work is reported before a failure of closing. */
export async function closingAfter<T>(work: (disposables: Disposables) => Promise<T>): Promise<T> {
  const disposables = new Disposables();
  let result: T;
  try {
    result = await work(disposables);
  } catch (error) {
    await disposables.end().catch(() => {});
    throw error;
  }
  await disposables.end();
  return result;
}
