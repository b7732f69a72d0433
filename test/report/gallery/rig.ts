import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Slot } from '../../../src/plan/slot.ts';
import { type ReportOptions, writeReport } from '../../../src/report/gallery/write.ts';
import { doneRecord } from '../../manifest/finish.ts';
import type { MemoryStore } from '../../rig/memory-store.ts';
import { commands } from '../results/rig.ts';

/** A run directory with a page to copy beside it. */
export function makePlace() {
  const root = mkdtempSync(join(tmpdir(), 'promptpress-'));
  const directory = join(root, 'runs', 'test');
  const page = join(root, 'page');
  mkdirSync(directory, { recursive: true });
  mkdirSync(page);
  writeFileSync(
    join(page, 'index.html'),
    '<body><script src="page.js"></script><!-- promptpress:summary --></body>',
  );
  writeFileSync(join(page, 'page.js'), '/* the page */');
  writeFileSync(join(page, 'page.css'), 'body {}');
  return { root, directory, page, folder: join(directory, 'report') };
}

export type Place = ReturnType<typeof makePlace>;

/** Writes a report of a plan in a place; thumbnails only where `artifacts` are given. */
export const reportOf = (
  place: Place,
  plan: Plan,
  store: MemoryStore,
  more: Partial<ReportOptions> = {},
): ReturnType<typeof writeReport> =>
  writeReport({
    plan,
    selection: {},
    reader: store.reader,
    directory: place.directory,
    folder: place.folder,
    page: place.page,
    commands,
    running: false,
    live: false,
    mask: (text) => text,
    madeBy: 'promptpress 1',
    at: 1_000,
    ...more,
  });

/** The artifacts of a place, and how often each was read. */
export function countedArtifacts({ directory }: Place) {
  const store = openArtifactFolder(directory);
  const reads: string[] = [];
  return {
    reads,
    get: (name: string, maxBytes: number) => {
      reads.push(name);
      return store.get(name, maxBytes);
    },
  };
}

/** A finished job whose image lies in the run directory. */
export function imageRecord({ directory }: Place, slot: Slot, bytes: Buffer): JobRecord {
  const { artifacts, ...done } = doneRecord(slot);
  return {
    ...done,
    artifacts: artifacts.map((artifact) => {
      const file = join(directory, artifact.file);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
      return {
        ...artifact,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      };
    }),
  };
}

/** Every file of a folder with its content. */
export const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path): [string, string] => [
        relative(folder, path),
        statSync(path).isFile() ? readFileSync(path, 'latin1') : 'no file',
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
