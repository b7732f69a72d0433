/** A stack of opened resources, closed in reverse order even if one of them fails. */
export class Disposables {
  readonly #steps: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.#steps.push(close);
  }

  /** Closes all resources, even if one of them fails. @throws the first failure */
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

/** Runs a function and then closes what it opened. An error of the function takes precedence over an error of closing. */
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
