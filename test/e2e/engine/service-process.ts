import { join } from 'node:path';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { startCli } from '../../rig/cli.ts';

/** A task that the service made. */
export interface MadeTask {
  readonly id: string;
  /** The key of the job that asked for it. */
  readonly tag: string;
  readonly description: string;
}

/** The sandbox in a process of its own: whatever happens to the runs, it goes on, and knows every task that it made. */
export interface ServiceProcess extends AsyncDisposable {
  /** What a command needs to reach it. */
  readonly env: Readonly<Record<string, string>>;
  /** How many tasks it has made. */
  made(): Promise<number>;
  /** All of them, from its disk. */
  tasks(): readonly MadeTask[];
}

/** Twelve at a time, each for some tenths of a second: so slow that what is killed is at work. */
const flags = ['--pixels', '64', '--text-latency', '60ms', '--concurrency', '12', '--queue', '1000'].concat(
  ['imagine=400ms', 'upscale=150ms', 'variation=300ms'].flatMap((duration) => ['--duration', duration]),
);

/** @param folder keeps its tasks */
export async function startService(folder: string): Promise<ServiceProcess> {
  const state = join(folder, 'service');
  const { child, done } = startCli(['sandbox', '--state', state, ...flags], { cwd: folder });
  const url = await Promise.race([
    new Promise<string>((resolve) => {
      child.stdout?.once('data', (text: string) => {
        resolve(text.trim());
      });
    }),
    done.then(({ stderr }) => {
      throw new Error(`The service did not start:\n${stderr}`);
    }),
  ]);
  return {
    env: { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: 'sandbox' },
    made: async () => {
      const answer = await fetch(`${url}/sandbox/counters`, { headers: { authorization: 'Bearer sandbox' } });
      const { tasks } = (await answer.json()) as { tasks: { made: number } };
      return tasks.made;
    },
    tasks: () => {
      const database = openDatabase(join(state, 'sandbox.sqlite'), { readOnly: true });
      try {
        return database
          .prepare<{ record: string }>('SELECT record FROM task ORDER BY number')
          .all()
          .map(({ record }) => {
            const { id, state: tag, description } = JSON.parse(record) as Record<string, string>;
            return { id: id ?? '', tag: tag ?? '', description: description ?? '' };
          });
      } finally {
        database.close();
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await done;
    },
  };
}
