import { defineConfig } from 'vitest/config';
import usual from '../../../vitest.config.ts';

/**
 * The end-to-end tests once more, on the package as users have it: packed by npm, and installed into a folder of its own
 * (`npm run test:packed`). What works among the sources of this repository alone fails here.
 */
export default defineConfig({
  test: {
    ...usual.test,
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/rig/postgres/setup.ts', 'test/e2e/packed/install.ts'],
  },
});
