import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import project from '../../vitest.config.ts';
import { WarmThread } from './warm-thread.ts';

const tests = JSON.parse(process.env['MUTANTS_TESTS'] ?? '[]') as string[];

/** Runs test files in the order of their list, so that the nearest tests kill a mutant before the slow ones begin. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      tests.findIndex((test) => moduleId.endsWith(`/${test}`));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

/**
 * The project's tests, but only those files that `MUTANTS_TESTS` lists, a JSON array of paths. All of them share one thread,
 * and load each module once.
 */
export default defineConfig({
  ...project,
  plugins: [
    {
      name: 'warm-thread',
      // Stryker's runner asks for a pool of threads, whatever a configuration says: it is replaced once all of that is read.
      configureVitest: ({ project: { config } }) => {
        config.pool = 'warm-thread';
        config.poolRunner = {
          name: 'warm-thread',
          createPoolWorker: (options) => new WarmThread(options),
        };
      },
    },
  ],
  test: {
    ...project.test,
    include: tests,
    setupFiles: [...[project.test?.setupFiles ?? []].flat(), 'test/mutants/setup.ts'],
    isolate: false,
    sequence: { sequencer: InOrder },
  },
});
