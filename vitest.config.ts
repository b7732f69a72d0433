import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/rig/setup.ts'],
    // More workers than cores: a test that starts processes or a gateway waits for much of its time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Files share one process for each worker, and its imports: these cost more than half a second a file. No test replaces a
    // module or leaves a change of `process` behind.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
