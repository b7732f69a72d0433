import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest by far, most of all where a machine has no record of earlier runs. */
const slow = /\/test\/(?:e2e|sim)\//;

/** Slow files first: one that begins last is waited for alone. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => Number(slow.test(b.moduleId)) - Number(slow.test(a.moduleId)));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Those need a browser, or programs of others: npm run test:browser, npm run test:outside.
    exclude: ['test/browser/**', 'test/outside/**', '**/node_modules/**'],
    setupFiles: ['test/rig/setup.ts'],
    // Starts nothing before a test asks for it.
    globalSetup: ['test/rig/postgres/setup.ts'],
    // More workers than cores: a test that starts processes or a gateway waits for much of its time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Files share one process for each worker, and its imports: these cost more than half a second a file. No test replaces a
    // module or leaves a change of `process` behind.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
