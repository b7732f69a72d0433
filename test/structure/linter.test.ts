import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rooms } from './arrows.ts';
import { mayImport } from './refused-arrows.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const names = Object.keys(rooms);

/** Where imports go: two files of each room, and every file that the table names, or that lies in a folder it names. */
const targets = [
  ...names.flatMap((room) => [`${room}/some.ts`, `${room}/deep/some.ts`]),
  ...new Set(
    Object.values(rooms)
      .flatMap(({ imports }) => imports.filter((each) => each.includes('/')))
      .map((each) => (each.endsWith('.ts') ? each : `${each}/some.ts`)),
  ),
];

test('the linter refuses an import between rooms where the table does, at every depth, for values and types', () => {
  const place = mkdtempSync(join(tmpdir(), 'structure-'));
  try {
    cpSync(join(repository, '.oxlintrc.json'), join(place, '.oxlintrc.json'));
    const wrong = new Set<string>();
    for (const room of names) {
      for (const depth of [0, 1, 2]) {
        for (const types of [false, true]) {
          const file = `src/${room}/${'sub/'.repeat(depth)}${types ? 'types' : 'values'}.ts`;
          const others = targets.filter((to) => !to.startsWith(`${room}/`));
          const line = (to: string, index: number): string =>
            `import ${types ? 'type ' : ''}{ x${index} } from '${'../'.repeat(depth + 1)}${to}';\n`;
          mkdirSync(dirname(join(place, file)), { recursive: true });
          writeFileSync(join(place, file), others.map(line).join(''));
          for (const [index, to] of others.entries())
            if (!mayImport(rooms, room, to, types)) wrong.add(`${file}:${index + 1} ${to}`);
        }
      }
    }
    expect(wrong.size).toBeGreaterThan(300);
    expect(refusedByLinter(place)).toEqual([...wrong].sort());
  } finally {
    rmSync(place, { recursive: true });
  }
});

/** `src/plan/values.ts:3 run/some.ts` for each import that the linter refuses. */
function refusedByLinter(place: string): readonly string[] {
  const oxlint = join(repository, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'unix', 'src'], {
    cwd: place,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...stdout.matchAll(/^([^:]+:\d+):\d+: '(?:\.\.\/)+([^']+)' import is restricted/gm)]
    .map(([, where, to]) => `${where} ${to}`)
    .sort();
}
