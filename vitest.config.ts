import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/rig/setup.ts'],
    // One worker for each core: much of a test's time is spent waiting for processes that it started.
    maxWorkers: '100%',
    // Files share one process for each worker, and its imports: these cost more than half a second a file. No test replaces a
    // module or leaves a change of `process` behind.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
