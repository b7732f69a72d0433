import { join } from 'node:path';
import { promptpress, type Said } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type FakeService, type FakeServiceOptions, startFakeService } from '../rig/fake-service.ts';
import { type ManifestRow, readManifest } from '../rig/manifest.ts';
import { quick, write } from './pipelines.ts';

/** A service, and a folder with one pipeline in it. */
export interface TextPlace extends AsyncDisposable {
  readonly service: FakeService;
  readonly folder: string;
  /** The run directory. */
  readonly directory: string;
  /** Writes the pipeline again: what stands below `name` and the quick limits. */
  edit(pipeline: string): Promise<void>;
  run(...flags: string[]): Promise<Said & { readonly rows: readonly ManifestRow[] }>;
  /** Requests of the text routes so far, lists of models not counted. */
  calls(): number;
}

export async function openTextPlace(pipeline: string, options: FakeServiceOptions = {}): Promise<TextPlace> {
  const service = await startFakeService(options);
  const folder = await temporaryFolder();
  const directory = join(folder.path, 'runs/text');
  const edit = (text: string): Promise<void> =>
    write(folder.path, { 'text.yaml': `name: text\nservice: { id: fake }\n${quick}${text}` });
  await edit(pipeline);
  return {
    service,
    folder: folder.path,
    directory,
    edit,
    run: async (...flags) => {
      const said = await promptpress(['run', 'text.yaml', ...flags], {
        cwd: folder.path,
        env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      });
      return { ...said, rows: await readManifest(join(directory, 'manifest.csv')) };
    },
    calls: () => service.count('generate') + service.count('stream') + service.count('chat'),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Sums of the token columns of a manifest, in the words of the service's own. */
export function tokenSums(rows: readonly ManifestRow[]): Record<string, number> {
  const sum = (column: string): number => rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
  return Object.fromEntries(
    ['prompt', 'candidates', 'thoughts', 'tool', 'total'].map((name) => [name, sum(`${name}_tokens`)]),
  );
}
