import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type CallName = 'mkdir' | 'open' | 'readdir' | 'rename' | 'unlink';
type Calls = Record<CallName, (...args: readonly unknown[]) => Promise<unknown>>;

const calls = fs as unknown as Calls;
const real: Calls = { ...calls };

/**
 * Runs `before` ahead of each call of a function of `node:fs/promises`, until the test is over or another takes its place. What
 * `before` throws is what the call rejects with.
 */
export function beforeCalls(name: CallName, before: (...args: readonly unknown[]) => unknown): void {
  calls[name] = async (...args) => {
    await before(...args);
    return await real[name](...args);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    calls[name] = real[name];
    syncBuiltinESMExports();
  });
}

/** An error as the file system gives it. */
export const systemError = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: refused, ${syscall}`), { code, syscall });
