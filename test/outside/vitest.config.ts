import { defineConfig } from 'vitest/config';

/** What programs of others say of our files: `npm run test:outside`, with promtool and systemd-analyze. `npm test` leaves it out. */
export default defineConfig({
  test: {
    include: ['test/outside/**/*.test.ts'],
    globalSetup: ['test/rig/postgres/setup.ts'],
    testTimeout: 120_000,
  },
});
