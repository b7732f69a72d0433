import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type CallName = 'mkdir' | 'open' | 'readdir' | 'rename' | 'unlink';
type Call = (...args: readonly unknown[]) => unknown;
type Calls = Record<CallName, Call>;

const promising = promises as unknown as Calls;
const callingBack = fs as unknown as Calls;
const real = { promising: { ...promising }, callingBack: { ...callingBack } };

/**
 * Runs `before` ahead of each call of a function of `node:fs/promises`, and of its namesake of `node:fs` that calls back, until the test
 * is over or another takes its place. What `before` throws is what the call fails with.
 */
export function beforeCalls(name: CallName, before: (...args: readonly unknown[]) => unknown): void {
  promising[name] = async (...args) => {
    await before(...args);
    return await real.promising[name](...args);
  };
  callingBack[name] = (...args) => {
    const done = args.at(-1) as (error: unknown) => void;
    void Promise.resolve()
      .then(() => before(...args.slice(0, -1)))
      .then(() => real.callingBack[name](...args), done);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    promising[name] = real.promising[name];
    callingBack[name] = real.callingBack[name];
    syncBuiltinESMExports();
  });
}

/** An error as the file system gives it. */
export const systemError = (code: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: refused, ${syscall}`), { code, syscall });
