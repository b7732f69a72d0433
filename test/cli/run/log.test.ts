import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openRunLog } from '../../../src/cli/run/log.ts';
import { Redactor } from '../../../src/cli/terminal/redact.ts';

it('says in words which rule of pace holds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'run.log');
  const log = openRunLog(
    file,
    'info',
    new Redactor(),
    () => 0,
    (error) => {
      throw error;
    },
  );
  log.listener({ type: 'route:pace', route: 'text', kind: 'text-pro', atOnce: 2 });
  log.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 'info',
      msg: 'route:pace',
      kind: 'text-pro',
      atOnce: 2,
      words: '2 at a time fit at text-pro',
    }),
  ]);
});
