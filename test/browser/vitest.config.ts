import { defineConfig } from 'vitest/config';

/** The tests that need a browser: `npm run test:browser`. `npm test` leaves them out. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/browser/chromium.ts'],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
