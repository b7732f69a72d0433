/** What has been opened and must be closed, the last one first, whatever happens. */
export class Closing {
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

/** Runs the work with things to close; a failure of the work is told before one of closing. */
export async function closingAfter<T>(work: (closing: Closing) => Promise<T>): Promise<T> {
  const closing = new Closing();
  let result: T;
  try {
    result = await work(closing);
  } catch (error) {
    await closing.end().catch(() => {});
    throw error;
  }
  await closing.end();
  return result;
}
