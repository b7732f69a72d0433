import { spawn } from 'node:child_process';

/** Ends every server of a folder of clusters and removes it, once standard input ends: however its owner ends, that happens. */
const keeper = `
cat > /dev/null
for file in "$0"/clusters/*/postmaster.pid; do
  [ -f "$file" ] && read -r pid < "$file" && kill -QUIT "$pid" && pids="$pids $pid"
done
for pid in $pids; do
  tries=0
  while kill -0 "$pid" 2> /dev/null && [ "$tries" -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$pid" 2> /dev/null
done
rm -rf "$0"
`;

/** Removes the folder, and ends the servers of its clusters, when this process ends or `[Symbol.asyncDispose]` is called. */
export function keep(folder: string): AsyncDisposable {
  const child = spawn('sh', ['-c', keeper, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  // It must not hold up the end of this process: that is what it waits for.
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  return {
    [Symbol.asyncDispose]: async () => {
      child.ref();
      child.stdin.end();
      await closed;
    },
  };
}
