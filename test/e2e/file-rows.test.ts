import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { openPlace } from '../rig/run-place.ts';
import { quick, write } from './pipelines.ts';

const pipeline = `name: killed
service: { id: fake }
${quick}
matrix:
  rows: { files: in/**/*.png }
steps:
  grid: { imagine: "{{ name }} of {{ file }}" }
`;

describe('files as rows, from end to end', () => {
  it('are cells, of which a run does what is new, and the manifest needs no file', async () => {
    await using place = await openPlace(pipeline);
    await write(place.folder, { 'in/b.png': 'b', 'in/a/c.png': 'c', 'in/b.txt': 't' });
    const first = await place.run();
    expect(first.code, first.err).toBe(0);
    const shown = async () =>
      (await place.rows()).map((row) => [row['cell'], row['status'], row['var.file'], row['var.name']]);
    expect(await shown()).toEqual([
      ['1', 'done', 'in/a/c.png', 'c'],
      ['2', 'done', 'in/b.png', 'b'],
    ]);

    await write(place.folder, { 'in/a.png': 'a' });
    const frozen = await place.run('--frozen');
    expect(frozen.code).toBe(2);
    expect(frozen.err).toContain('in/**/*.png has changed');
    const submitted = place.service.submits.all.length;
    const second = await place.run();
    expect(second.code, second.err).toBe(0);
    expect(place.service.submits.all).toHaveLength(submitted + 1);
    expect((await shown()).map(([, , file]) => file)).toEqual(['in/a.png', 'in/a/c.png', 'in/b.png']);

    const manifest = join(place.directory, 'manifest.csv');
    const before = await readFile(manifest, 'utf8');
    await rm(join(place.folder, 'in'), { recursive: true });
    await rm(manifest);
    const again = await promptpress(['manifest', place.directory], { cwd: place.folder, env: place.env });
    expect(again.code, again.err).toBe(0);
    expect(await readFile(manifest, 'utf8')).toBe(before);

    const none = await place.run();
    expect(none.code).toBe(2);
    expect(none.err).toContain('matrix.no-files');
  });
});
