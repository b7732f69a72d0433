import { inject } from 'vitest';

/**
 * Runs before every test file, after the setup file of Stryker's runner: a thread that has tried another mutant must not load this
 * test file with it. Stryker's runner sets the mutant again when the tests begin.
 */
const context = inject as (key: string) => unknown;
if (context('mode') === 'mutant' && context('mutantActivation') === 'runtime') {
  const stryker = (globalThis as Record<string, unknown>)[String(context('globalNamespace'))];
  (stryker as { activeMutant?: string | undefined }).activeMutant = undefined;
}
