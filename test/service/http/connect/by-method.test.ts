import { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { ByMethod } from '../../../../src/service/http/connect/by-method.ts';

/** A dispatcher that ends as it is told to. */
class Ending extends Dispatcher {
  readonly #end: () => Promise<void>;

  constructor(end: () => Promise<void>) {
    super();
    this.#end = end;
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(): Promise<void> {
    return this.#end();
  }

  override destroy(): Promise<void>;
  override destroy(error: Error | null): Promise<void>;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(): Promise<void> {
    return this.#end();
  }
}

const whole = (): Ending => new Ending(async () => {});
const broken = (): Ending => new Ending(() => Promise.reject(new Error('ended before')));

test.each(['close', 'destroy'] as const)('%s calls back once both have ended', async (end) => {
  const told = await new Promise<unknown[]>((resolve) => {
    new ByMethod(whole(), whole())[end]((...given: readonly unknown[]) => resolve([...given]));
  });
  expect(told).toEqual([]);
});

// A rejection that nobody handles would fail this file.
test.each(['close', 'destroy'] as const)(
  '%s gives a callback the error, and rejects nothing',
  async (end) => {
    const told = await new Promise<unknown[]>((resolve) => {
      new ByMethod(whole(), broken())[end]((...given: readonly unknown[]) => resolve([...given]));
    });
    expect(told).toEqual([new Error('ended before')]);
  },
);

test.each(['close', 'destroy'] as const)('%s without a callback rejects with the error', async (end) => {
  await expect(new ByMethod(broken(), whole())[end]()).rejects.toThrow('ended before');
});
